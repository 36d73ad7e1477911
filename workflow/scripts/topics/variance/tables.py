"""The analysis table of the topic, column by column."""

from run_tables.table import Table, count_column, number_column, text_column
from topics.cells.tables import METRIC, NOTE

#: Kinds of parts, in the order of tables and figures.
FACTOR, INTERACTION, HIGHER, CHANCE = ("factor", "interaction", "higher", "chance")
#: Separator between the factors of an interaction.
JOINED = " x "
_NONE = "there is no decomposition"
_OF_CHANCE = f"the part is chance, or {_NONE}"
_NO_INTERVAL = "a scenario has fewer than three replications or a cell fewer than two, or nothing varies"
VARIANCE = Table(
    "variance",
    "a part of a metric's variance; a metric without a decomposition has one row",
    (
        METRIC,
        text_column("taken_as", "Transformation of the values: `logarithm`, `square root`, or none (`value`)."),
        text_column(
            "part",
            "A factor, two factors joined by ` x ` (an interaction), `higher interactions` (all interactions of three or more factors), `seed` (the part "
            "shared by the runs of a scenario and replication) or `run` (the rest of the variation between replications).",
            _NONE,
        ),
        text_column("kind", "Kind of part: `factor`, `interaction`, `higher` or `chance`.", _NONE),
        count_column("df", "", "Degrees of freedom; for a factor, the number of levels minus one.", _OF_CHANCE),
        number_column("squares", "", "Sum of squares over the means of cells; each cell counts once.", _OF_CHANCE),
        number_column(
            "variance",
            "",
            "Estimate of the part's variance over the cells, after the contribution of chance is subtracted; a negative estimate means 0. "
            "The unit is the square of the unit of the transformed values.",
            _NONE,
        ),
        number_column(
            "share_percent",
            "%",
            "The part's share of the sum of all parts (generalised omega squared).",
            f"nothing varies, or {_NONE}",
        ),
        number_column(
            "approximate_low_percent",
            "%",
            "Lower end of the share's jackknife interval with a nominal coverage of 95 %; the interval covered the true share in 90 to 100 % of simulated studies.",
            _NO_INTERVAL,
        ),
        number_column("approximate_high_percent", "%", "Upper end of the share's jackknife interval.", _NO_INTERVAL),
        count_column("cells", "", "Number of cells included, with one value each.", _NONE),
        count_column("replications", "runs", "Smallest number of values in a cell.", _NONE),
        NOTE,
    ),
)
