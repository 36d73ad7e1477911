"""Measurements compared with TCP theory: models in each cell, and the exponents of RTT and loss across scenarios."""

from study_files.program_ccas import programs_under_test
from topics.ccas.topic import one_cca_a_run
from topics.multipath.topic import joined_scenarios
from topics.theory.preconditions import unlike
from topics.theory.tables import MODELS, REGRESSIONS
from topics.topic import Analysis, Topic


def one_path(design) -> bool:
    """Return whether the models apply to a `StudyDesign`: whether connections stay on a single path with one bottleneck."""
    return (
        one_cca_a_run(design)
        and design.has_own_flows
        and not joined_scenarios(design)
        and "chain" not in design.topologies
    )


def _params(design):
    unlike_of = {one["id"]: unlike(one) for one in design.scenarios}
    return {"unlike": unlike_of, "programs": list(programs_under_test(design.study))}


TOPIC = Topic(
    "theory",
    "Theory",
    order=230,
    heading="Does TCP behave as theory predicts?",
    applies=one_path,
    analyses=(Analysis("fit_models", ("runs", "scenarios"), (MODELS, REGRESSIONS), ("confidence",), params=_params),),
)
