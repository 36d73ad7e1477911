"""Which conclusions depend on what was set: scenarios beside perturbed ones."""

from topics.ccas.topic import one_cca_a_run
from topics.sensitivity.tables import OF_CCAS, OF_IP_VERSIONS, SENSITIVITY
from topics.topic import Topic


def comparisons_perturbed(design) -> list[str]:
    """Return the comparisons whose conclusions are held against each other."""
    made = {OF_IP_VERSIONS: design.ip_versions_compared, OF_CCAS: one_cca_a_run(design) and len(design.ccas) > 1}
    return [comparison for comparison, is_made in made.items() if is_made]


TOPIC = Topic(
    "sensitivity",
    "Sensitivity",
    order=260,
    heading="Which conclusions depend on what was set?",
    applies=lambda design: design.study.get("analysis", {}).get("sensitivity", False),
    tables=(SENSITIVITY,),
)
