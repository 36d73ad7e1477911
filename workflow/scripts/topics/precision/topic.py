"""The precision of the means, and the number of replications, in a study that adds replications until its means are precise enough."""

from study_files.study_replications import has_looks
from topics.precision.tables import PRECISION
from topics.topic import Analysis, Place, Topic

TOPIC = Topic(
    "precision",
    "Precision",
    order=280,
    opens=False,
    heading="Precision",
    applies=lambda design: has_looks(design.study),
    analyses=(
        Analysis(
            "describe_precision",
            ("runs",),
            (PRECISION,),
            ("confidence",),
            params=lambda design: {"replications": design.study["replications"]},
        ),
    ),
    place=Place.METHOD,
)
