"""The analysis tables of the topic, column by column."""

from run_tables.table import Table, count, interval, number, text
from run_tables.tidy_tables import RUNS
from topics.buffers.tables import BUFFER, CONDITIONS
from topics.cells.tables import IN_EFFECT_UNIT, IN_UNIT, METRIC, NOTE

#: Where platforms are compared, one with another.
PLACE_COLUMNS = (
    CONDITIONS,
    text("setting", "The conditions in words.", "all scenarios of the study share them"),
    BUFFER,
    RUNS["cca"],
    RUNS["ip_version"],
)
PLACE = [column.name for column in PLACE_COLUMNS]
_EFFECT_UNIT = text("effect_unit", "Unit of the difference: `%`.", "the metric is an index")
_NO_VALUE = "one of the platforms has no value"
_NO_INTERVAL = "one of the platforms has fewer than two values"
_NO_TEST = f"{_NO_INTERVAL}, or neither has any spread"
_TESTED = "the interval that the two tests of agreement rest on"
PLATFORMS = Table(
    "platforms",
    "a metric on two platforms under the same conditions",
    (
        *PLACE_COLUMNS,
        text("platform_a", "The first platform: a kernel, or the older version of a simulator."),
        text("platform_b", "The second platform."),
        text("between", "What is compared: `kernel and simulator`, `versions of the simulator` or `virtual and real clock`."),
        METRIC,
        text("unit", "Unit of the metric.", "it is an index"),
        text(
            "scale",
            "What the difference is: `ratio` (of geometric means), `relative` (to the mean of both) or `points`.",
            _NO_VALUE,
        ),
        _EFFECT_UNIT,
        count("n_a", "runs", "Valid runs on the first platform that have a value."),
        count("n_b", "runs", "Valid runs on the second platform that have a value."),
        number("mean_a", IN_UNIT, "Mean of the first platform's values.", "there is no value"),
        number("mean_b", IN_UNIT, "Mean of the second platform's values.", "there is no value"),
        number("effect", IN_EFFECT_UNIT, "Difference of the second platform against the first.", _NO_VALUE),
        *interval("ci_low", "ci_high", IN_EFFECT_UNIT, "the difference", _NO_INTERVAL),
        number("tost_low", IN_EFFECT_UNIT, f"Lower end of {_TESTED}.", _NO_INTERVAL),
        number("tost_high", IN_EFFECT_UNIT, f"Upper end of {_TESTED}.", _NO_INTERVAL),
        number("tolerance_low", IN_EFFECT_UNIT, "Lower end of the tolerance that the study states.", _NO_VALUE),
        number("tolerance_high", IN_EFFECT_UNIT, "Upper end of the tolerance that the study states.", _NO_VALUE),
        number("p_agree", "", "p of the hypothesis that the difference goes beyond the tolerance.", _NO_TEST),
        number("p_differ", "", "p of the hypothesis that the difference is within the tolerance.", _NO_TEST),
        number(
            "p_differ_bh", "",
            "The same, adjusted for the number of comparisons of the metric (Benjamini and Hochberg).", _NO_TEST,
        ),
        text("verdict", "What the runs show: `agree`, `differ` (by more than the tolerance) or `not shown`."),
        NOTE,
    ),
)  # fmt: skip
_STEP = "Difference of the {} against the {}."
_SHOWS = "Verdict of the comparison of the {}."
PLATFORM_CAUSES = Table(
    "platform_causes",
    "a metric under conditions that a kernel and two versions of a simulator have",
    (
        *PLACE_COLUMNS,
        METRIC,
        text("kernel", "The platform with a kernel."),
        text("oldest", "The simulator's oldest version."),
        text("newest", "The simulator's newest version."),
        number("kernel_to_newest", IN_EFFECT_UNIT, _STEP.format("newest version", "kernel"), _NO_VALUE),
        number("newest_to_oldest", IN_EFFECT_UNIT, _STEP.format("oldest version", "newest"), _NO_VALUE),
        number("kernel_to_oldest", IN_EFFECT_UNIT, _STEP.format("oldest version", "kernel"), _NO_VALUE),
        _EFFECT_UNIT,
        text("verdict_newest", _SHOWS.format("kernel with the newest version")),
        text("verdict_versions", _SHOWS.format("two versions")),
        text("verdict_oldest", _SHOWS.format("kernel with the oldest version")),
        text("cause", "What the difference comes from, as far as the three verdicts tell."),
    ),
)
