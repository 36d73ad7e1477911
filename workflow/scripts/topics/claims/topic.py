"""The claims of a paper, each compared with the runs and with the verdict from a study that uses another method."""

from study_files.program_ccas import programs_under_test
from topics.ccas.topic import one_cca_a_run
from topics.claims.tables import CLAIM_VERSIONS, CLAIMS, MISLABELLED
from topics.packet_size.topic import compares_sizes_alone
from topics.topic import Analysis, Place, Plot, Topic


def _figures(design):
    # Exists only if the other study was analysed.
    if "descriptive" in design.other_tables and not compares_sizes_alone(design):
        yield Plot(
            "methods",
            "plot_methods",
            ("scenarios", "descriptive", "other_descriptive"),
            title="Goodput with two methods",
            shows="means",
            params={"name": design.name, "other_name": design.other},
            category="Methods compared",
        )


TOPIC = Topic(
    "claims",
    "Claims",
    order=250,
    heading="Claims",
    applies=lambda design: design.claims is not None or one_cca_a_run(design) or "descriptive" in design.other_tables,
    analyses=(
        Analysis(
            "find_mislabelled",
            ("runs", "flows", "provenance"),
            (MISLABELLED,),
            params=lambda design: {"programs": list(programs_under_test(design.study))},
        ),
    ),
    tables=(CLAIMS, CLAIM_VERSIONS, MISLABELLED),
    table_applies={
        "claims": lambda design: design.claims is not None,
        "claim_versions": lambda design: design.claims is not None,
        "mislabelled": one_cca_a_run,
    },
    other_tables=(CLAIMS, MISLABELLED),
    figures=_figures,
    place=Place.BACK,
)
