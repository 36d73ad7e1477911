"""How exact the emulated path is: each quantity of each scenario against an exact number."""

from collections.abc import Iterator

from study_files.study_design import StudyDesign
from topics.calibration.tables import CALIBRATION, READINGS
from topics.topic import Plot, Topic


def calibrates(design: StudyDesign) -> bool:
    """Tell whether a study asks about the emulated path itself."""
    return bool(design.study.get("analysis", {}).get("calibration"))


def figures(design: StudyDesign) -> Iterator[Plot]:
    """Yield the topic's one figure."""
    yield Plot("calibration-errors", "plot_errors", ("calibration",), "Errors by quantity", "errors, uncertainty")


TOPIC = Topic(
    "calibration",
    "Calibration",
    order=30,
    heading="How exact is the emulated path?",
    applies=calibrates,
    tables=(READINGS, CALIBRATION),
    figures=figures,
    sole=True,
    pictures=("calibration-errors",),
)
