"""Measures by which levels are compared: columns of runs, each with the smallest difference that counts and the better direction."""

from dataclasses import dataclass

#: Scales of comparison: as a ratio, in percent, or as a difference in the measure's own unit.
RATIO, POINTS = "ratio", "points"


@dataclass(frozen=True)
class Measure:
    """A measure of a run, which is a column of ``tidy/runs.csv``."""

    column: str
    name: str  # as used in a sentence: "the mean RTT"
    unit: str
    scale: str  # `RATIO` or `POINTS`
    margin: str  # key of the smallest difference that counts, for `margins_of`
    better: int  # 1 if more is better, -1 if less is
    asks: str  # question that the measure answers; of several measures with the same question, a sentence reports the first
    words: tuple[str, str] = ("lower", "higher")  # words for a smaller and a larger value
    of_ccas: bool = True  # whether CCAs are compared by this measure
    of_scenarios: bool = (
        True  # whether scenarios are compared by this measure; False if the rate or delay itself determines the value
    )
    figures: tuple[str, ...] = ()  # slugs of the figures that show the measure, the best figure first

    @property
    def named(self) -> str:
        """Name of the measure as the subject of a sentence."""
        return self.name if self.name.split()[0].endswith("'s") else f"the {self.name}"

    @property
    def effect_unit(self) -> str:
        """Unit of a difference."""
        return "%" if self.scale == RATIO else "percentage points" if self.unit == "%" else self.unit


MEASURES = (
    Measure("goodput_mbps", "goodput", "Mbit/s", RATIO, "goodput_percent", 1, "speed", of_scenarios=False, figures=("knee", "price", "goodput")),
    Measure("ideal_percent", "goodput relative to the ideal", "%", POINTS, "goodput_points", 1, "speed", of_ccas=False, figures=("ideal", "knee")),
    Measure("rtt_mean_ms", "mean RTT", "ms", RATIO, "rtt_percent", -1, "delay", ("shorter", "longer"), of_scenarios=False, figures=("knee", "rtt")),
    Measure("queueing_mean_ms", "mean queueing delay", "ms", POINTS, "delay_ms", -1, "delay", ("shorter", "longer"), figures=("knee", "rtt")),
    Measure(
        "rtt_above_ms", "RTT above the path's shortest", "ms", POINTS, "delay_ms", -1, "delay", ("shorter", "longer"), of_ccas=False, figures=("knee", "rtt")
    ),
    Measure("retransmit_percent", "share of segments retransmitted", "%", POINTS, "loss_points", -1, "loss", figures=("price", "retransmits")),
    Measure("loss_percent", "packet loss", "%", POINTS, "loss_points", -1, "loss", figures=("loss", "price")),
    Measure("jain_index", "Jain's index of the flows' goodputs", "", POINTS, "index", 1, "fairness", figures=()),
    Measure("transfer_s", "time of a file transfer", "s", RATIO, "goodput_percent", -1, "time", ("shorter", "longer"), of_scenarios=False),
    Measure("cpu_seconds_per_gbyte", "CPU time per gigabyte", "s/GB", RATIO, "cpu_percent", -1, "cost"),
)  # fmt: skip
BY_COLUMN = {measure.column: measure for measure in MEASURES}
#: Measure -> measure with the same information, which is compared instead if the study provides it.
INSTEAD = {"rtt_above_ms": "queueing_mean_ms"}
#: Margin of CPU times in percent, which a study can't set. CPU times of repeated runs under a real clock differ by several percent.
CPU_PERCENT = 10.0


def margins_of(study) -> dict[str, float]:
    """Return the smallest difference that counts for each measure, by column, in the unit of the measure's differences.

    The margins come from the study's ``exam.margins`` and ``analysis.equivalence_margin``; the latter takes precedence.
    """
    known = study["exam"]["margins"] | study["analysis"]["equivalence_margin"] | {"cpu_percent": CPU_PERCENT}
    return {measure.column: float(known[measure.margin]) for measure in MEASURES}
