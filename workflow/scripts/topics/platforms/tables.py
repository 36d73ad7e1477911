"""The analysis tables of the topic, column by column."""

from run_tables.table import Table, count_column, interval_columns, number_column, text_column, verdict_column
from run_tables.tidy_tables import RUNS
from topics.buffers.tables import BUFFER, CONDITIONS
from topics.cells.tables import IN_EFFECT_UNIT, IN_UNIT, METRIC, NOTE

#: Columns that identify the conditions under which two platforms are compared.
PLACE_COLUMNS = (
    CONDITIONS,
    text_column("setting", "The conditions in words.", "all scenarios of the study share them"),
    BUFFER,
    RUNS["cca"],
    RUNS["ip_version"],
)
PLACE = [column.name for column in PLACE_COLUMNS]
_EFFECT_UNIT = text_column("effect_unit", "Unit of the difference: `%`.", "the metric is an index")
_NO_VALUE = "one of the platforms has no value"
_NO_INTERVAL = (
    "a platform has fewer than 6 values, all runs of each platform give the same value, or some runs are outliers"
)
_NO_TEST = _NO_INTERVAL
_TESTED = "the interval on which the two tests of agreement are based"
PLATFORMS = Table(
    "platforms",
    "a metric on two platforms under the same conditions",
    (
        *PLACE_COLUMNS,
        text_column("platform_a", "The first platform: a kernel (the guest kernel if both platforms are kernels), or the older version of a simulator."),
        text_column("platform_b", "The second platform."),
        text_column("between", "Kind of comparison: `two kernels`, `kernel and simulator` or `versions of the simulator`."),
        METRIC,
        text_column("unit", "Unit of the metric.", "the metric is an index"),
        text_column(
            "scale",
            "Scale of the difference: `ratio` (of geometric means), `relative` (to the mean of both platforms) or `points`.",
            _NO_VALUE,
        ),
        _EFFECT_UNIT,
        count_column("n_a", "runs", "Number of valid runs on the first platform that have a value."),
        count_column("n_b", "runs", "Number of valid runs on the second platform that have a value."),
        number_column("mean_a", IN_UNIT, "Mean of the first platform's values.", "there is no value"),
        number_column("mean_b", IN_UNIT, "Mean of the second platform's values.", "there is no value"),
        number_column("effect", IN_EFFECT_UNIT, "Difference of the second platform relative to the first.", _NO_VALUE),
        *interval_columns("ci_low", "ci_high", IN_EFFECT_UNIT, "the difference", _NO_INTERVAL),
        number_column("tost_low", IN_EFFECT_UNIT, f"Lower end of {_TESTED}.", _NO_INTERVAL),
        number_column("tost_high", IN_EFFECT_UNIT, f"Upper end of {_TESTED}.", _NO_INTERVAL),
        number_column("tolerance_low", IN_EFFECT_UNIT, "Lower end of the tolerance that the study states.", _NO_VALUE),
        number_column("tolerance_high", IN_EFFECT_UNIT, "Upper end of the tolerance that the study states.", _NO_VALUE),
        number_column("p_agree", "", "p-value of the test of agreement; the null hypothesis is that the difference exceeds the tolerance.", _NO_TEST),
        number_column("p_differ", "", "p-value of the test of a difference; the null hypothesis is that the difference is within the tolerance.", _NO_TEST),
        number_column(
            "p_differ_bh", "",
            "`p_differ` adjusted for the number of comparisons on the metric (Benjamini and Hochberg).", _NO_TEST,
        ),
        verdict_column("verdict", "Result of the comparison: `agree`, `differ` (by more than the tolerance) or `not shown`."),
        NOTE,
    ),
)  # fmt: skip
_STEP = "Difference of the {} relative to the {}."
_SHOWS = "Verdict of the comparison between the {}."
PLATFORM_CAUSES = Table(
    "platform_causes",
    "a metric under conditions run on a kernel and on two versions of a simulator",
    (
        *PLACE_COLUMNS,
        METRIC,
        text_column("kernel", "The platform with a kernel."),
        text_column("oldest", "The simulator's oldest version."),
        text_column("newest", "The simulator's newest version."),
        number_column("kernel_to_newest", IN_EFFECT_UNIT, _STEP.format("newest version", "kernel"), _NO_VALUE),
        number_column("newest_to_oldest", IN_EFFECT_UNIT, _STEP.format("oldest version", "newest"), _NO_VALUE),
        number_column("kernel_to_oldest", IN_EFFECT_UNIT, _STEP.format("oldest version", "kernel"), _NO_VALUE),
        _EFFECT_UNIT,
        text_column("verdict_newest", _SHOWS.format("kernel and the newest version")),
        text_column("verdict_versions", _SHOWS.format("two versions")),
        text_column("verdict_oldest", _SHOWS.format("kernel and the oldest version")),
        text_column("cause", "Cause of the difference, as far as the three verdicts show it."),
    ),
)
_START = "the first quarter of the time"
_NOT_SAMPLED = "the study asks for no time series"


def _both(name, unit, what, empty=""):
    """Return two columns with the suffixes _a and _b, one for each platform."""
    return [
        number_column(f"{name}_{side}", unit, f"On the {which} platform: {what}.", empty)
        for side, which in (("a", "first"), ("b", "second"))
    ]


PLATFORM_STARTS = Table(
    "platform_starts",
    "a comparison of two platforms under the same conditions: when the difference in goodput arises",
    (
        *PLACE_COLUMNS,
        PLATFORMS["platform_a"],
        PLATFORMS["platform_b"],
        number_column("goodput_percent", "%", "Difference in goodput of the second platform relative to the first.", _NO_VALUE),
        *interval_columns("goodput_low", "goodput_high", "%", "the difference", _NO_INTERVAL),
        number_column("steady_percent", "%", "Difference in goodput without start-up (`goodput_steady_mbps`) of the second platform relative to the first.", _NO_VALUE),
        *interval_columns("steady_low", "steady_high", "%", "the difference without start-up", _NO_INTERVAL),
        *_both("retransmits", "segments", "mean number of segments retransmitted in a run", _NO_VALUE),
        *_both("early_retransmits", "segments", f"mean number of segments retransmitted in {_START} of a run, counted in whole intervals of iperf3's report", _NO_VALUE),
        *_both("slow_start_peak_packets", "packets", "mean over flows of the largest window before the slow start threshold is set", _NOT_SAMPLED),
        *_both("lossless_percent", "%", "share of flows without a retransmission before the slow start threshold is set", _NOT_SAMPLED),
        *_both("silence_s", "s", f"mean over flows of the longest time without newly acknowledged data in {_START}", _NOT_SAMPLED),
        text_column("arises", "When the difference arises: `start-up`, `all the time`, `no difference shown` or `not known`."),
    ),
)  # fmt: skip
KERNEL_ENVIRONMENTS = Table(
    "kernel_environments",
    "a property in which the environments of two kernels differ according to their run documents",
    (
        text_column("platform_a", "The guest kernel's platform."),
        text_column("platform_b", "The machine's own platform."),
        text_column("property", "The property, as `tidy/provenance.json` names it: `kernel`, `tick_hz`."),
        text_column(
            "value_a",
            "Value of the property on the first platform; several values are separated by `; `.",
            "the platform's documents don't have it",
        ),
        text_column(
            "value_b", "Value of the property on the second platform.", "the platform's documents don't have it"
        ),
    ),
)
