"""Accuracy of the emulated path: each quantity in each scenario, compared with an exact value."""

from topics.calibration.tables import CALIBRATION, READINGS
from topics.topic import Analysis, Plot, Topic

TOPIC = Topic(
    "calibration",
    "Calibration",
    order=30,
    heading="How exact is the emulated path?",
    applies=lambda design: bool(design.study.get("analysis", {}).get("calibration")),
    analyses=(Analysis("measure_errors", ("readings", "scenarios"), (CALIBRATION,)),),
    tables=(READINGS, CALIBRATION),
    figures=(Plot("calibration-errors", "plot_errors", ("calibration",), "Errors by quantity", "errors, uncertainty"),),
    sole=True,
    pictures=("calibration-errors",),
)
