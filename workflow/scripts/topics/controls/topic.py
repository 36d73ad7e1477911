"""The false alarm rate of a study's tests: each cell is run again with other seeds and compared with itself."""

from topics.ccas.topic import one_cca_a_run
from topics.controls.tables import AA_SUMMARY, AA_TESTS, OF_CCAS, OF_IP_VERSIONS
from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Place, Topic


def comparisons_of(design) -> list[str]:
    """Return the comparisons of a study that are also applied to its control runs."""
    made = {
        OF_IP_VERSIONS: design.ip_versions_compared and not compares_sizes_alone(design),
        OF_CCAS: one_cca_a_run(design) and len(design.ccas) > 1,
    }
    return [comparison for comparison, is_made in made.items() if is_made]


TOPIC = Topic(
    "controls",
    "Controls",
    order=270,
    heading="Controls: each cell compared with itself",
    applies=lambda design: design.study.get("controls") == "aa",
    tables=(AA_TESTS, AA_SUMMARY),
    place=Place.BACK,
    anchor="controls",
)
