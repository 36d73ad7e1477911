"""The reproducibility of declared programs: some of their runs are executed twice, and the documents are compared.

The guest's clock and random numbers follow from a run's seed, but a program can read the processor's own random numbers.
"""

from study_files.program_ccas import programs_of_runs
from topics.repetitions.tables import REPETITIONS
from topics.topic import Place, Topic

TOPIC = Topic(
    "repetitions",
    "Repeated runs",
    order=280,
    heading="Are the programs reproducible?",
    applies=lambda design: bool(programs_of_runs(design.study)),
    tables=(REPETITIONS,),
    place=Place.BACK,
    opens=False,
)
