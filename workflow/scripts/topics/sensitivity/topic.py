"""How conclusions depend on the exact conditions: scenarios compared with their perturbed versions."""

from topics.ccas.topic import one_cca_a_run
from topics.controls.tables import OF_CCAS, OF_IP_VERSIONS
from topics.sensitivity.tables import SENSITIVITY
from topics.topic import Analysis, Topic


def comparisons_perturbed(design) -> list[str]:
    """Return the comparisons whose conclusions are compared between perturbed and unperturbed scenarios."""
    made = {OF_IP_VERSIONS: design.ip_versions_compared, OF_CCAS: one_cca_a_run(design) and len(design.ccas) > 1}
    return [comparison for comparison, is_made in made.items() if is_made]


def _compared(design) -> tuple[str, ...]:
    """Return the tables of the comparisons that a study makes."""
    return ("ip_versions",) * design.ip_versions_compared + ("cca_pairs",) * (not design.mixes)


TOPIC = Topic(
    "sensitivity",
    "Sensitivity",
    order=260,
    heading="Which conclusions depend on the settings?",
    applies=lambda design: design.study.get("analysis", {}).get("sensitivity", False),
    analyses=(Analysis("compare_perturbed", _compared, (SENSITIVITY,), ("significance",)),),
)
