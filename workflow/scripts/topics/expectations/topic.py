"""The study as a gate: each expectation about the results, and its outcome."""

from topics.expectations.tables import EXPECTATIONS
from topics.topic import Place, Topic

TOPIC = Topic(
    "expectations",
    "Gate",
    order=10,
    heading="Gate",
    applies=lambda design: bool(design.study.get("analysis", {}).get("expect")),
    tables=(EXPECTATIONS,),
    place=Place.FRONT,
    whole=True,
)
