"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Column, Table, count_column, number_column, ordinal_column, text_column, verdict_column
from run_tables.tidy_tables import RUNS
from topics.cells.tables import IN_UNIT, NOTE

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
#: Verdicts on claims for which the data are too imprecise, and on claims for which there are no suitable runs.
NOT_SHOWN, NOT_TESTABLE = "not shown", "not testable"
VERDICTS = REPRODUCED, NOT_REPRODUCED, NOT_SHOWN, NOT_TESTABLE

_UNDECIDED = "the study has no runs for the claim, or the statistic has no value"
CLAIMS = Table(
    "claims",
    "a claim",
    (
        text_column("claim", "Identifier of the claim in the claims file."),
        text_column("section", "Place of the statement in the paper."),
        text_column("statement", "Statement of the paper."),
        text_column("kind", "Kind of check, as described in `claims.schema.yaml`."),
        text_column(
            "quantity", "Quantity that the claim is about: a quantity of runs, of flows or of their time series."
        ),
        text_column("unit", "Unit of `value`.", "`value` has no unit, or is missing"),
        text_column("published", "The paper's value, with its unit."),
        number_column(
            "value",
            IN_UNIT,
            "The claim's statistic, computed from this study's runs; the p-value if the claim is about the outcome of a test.",
            _UNDECIDED,
        ),
        number_column(
            "low",
            IN_UNIT,
            "Lower end of the interval of `value`.",
            f"{_UNDECIDED}, or `value` is a p-value or has no interval",
        ),
        number_column(
            "high",
            IN_UNIT,
            "Upper end of the interval of `value`.",
            f"{_UNDECIDED}, or `value` is a p-value or has no interval, or the end is infinite",
        ),
        text_column(
            "interval",
            "Kind of the interval of `value`: `t` for one mean or ratio (coverage 95 % if replications are approximately normal); "
            "`joint t` for the lowest, highest or farthest of several (coverage at least 95 %); `counted` for the number of "
            "comparisons that hold (Holm's procedure, coverage at least 95 %); `of ranks` for a median (Woodruff's method); "
            "`chi-square` for standard deviations.",
            _UNDECIDED,
        ),
        text_column(
            "requirement",
            "The claim's statistic, and the bounds that it must meet for the claim to hold.",
            "the study has no runs for the claim",
        ),
        text_column("bounds", "The bounds in `requirement`.", "`value` is missing or a p-value"),
        verdict_column(
            "verdict",
            f"Verdict on the claim: `{REPRODUCED}`, `{NOT_REPRODUCED}`, `{NOT_SHOWN}` or `{NOT_TESTABLE}`.",
            unmeasured=(NOT_TESTABLE,),
        ),
        text_column("because", "Reason for the verdict, in words."),
        text_column("tolerance", "Interpretation of the paper's words as a bound, with the reason."),
        text_column("remark", "Remark on the published value.", "there is no remark"),
        text_column(
            "cause",
            "The reason why the claim doesn't hold, from the claims file.",
            "the claim is reproduced or not testable, or the file gives no cause",
        ),
        count_column("runs", "runs", "Number of runs with a value of the claim's quantity."),
    ),
)
#: Value of `change` for the first version.
FIXED = "fixed"
CLAIM_VERSIONS = Table(
    "claim_versions",
    "the first version of the claims file, or a change to a claim in a later version",
    (
        ordinal_column("version", "Number of the version, starting at 1."),
        text_column("sha256", "SHA-256 of the file."),
        count_column(
            "runs",
            "runs",
            "Number of runs that had been recorded when this version was first used; 0 means before the first run.",
        ),
        text_column(
            "change",
            f"Change made by this version: `{FIXED}` for the first version; for a later version, `added`, `changed` or `removed` (a claim), "
            "`paper or scenarios changed`, or `comments or causes only`.",
        ),
        text_column(
            "claim",
            "Identifier of the claim that was added, changed or removed.",
            "no claim was added, changed or removed",
        ),
    ),
)

_SCENARIO, _CCA, _IP_VERSION = CELL_COLUMNS
#: Metrics by which runs under a wrong name are compared.
MISLABELLED_METRICS = ("goodput_mbps", "rtt_mean_ms", "retransmits")


def _means(suffix: str, whose: str, empty: str) -> tuple[Column, ...]:
    """Return the columns with the means of `MISLABELLED_METRICS` over the runs that `whose` describes."""
    return tuple(
        number_column(f"{name}{suffix}", RUNS[name].unit, f"Mean of `{name}` over {whose}.", empty)
        for name in MISLABELLED_METRICS
    )


MISLABELLED = Table(
    "mislabelled",
    "a cell in which a CCA other than the requested one ran",
    (
        _SCENARIO,
        SCENARIO_LABEL,
        _CCA,
        text_column("observed", "CCA that ran, as reported by the sender; several CCAs are joined by `+`."),
        _IP_VERSION,
        count_column("runs", "runs", "Number of runs of the cell in which `observed` ran."),
        *_means("", "the runs of the cell in which `observed` ran", "none of these runs has a value"),
        text_column(
            "reference_scenario",
            "Scenario that allows the requested CCA and is otherwise the same as `scenario`.",
            "the study has no such scenario",
        ),
        *_means("_asked", "valid runs of the requested CCA in `reference_scenario`", "there is no such run"),
        *_means(
            "_observed",
            "valid runs in which `observed` was requested: those in `scenario` or, if there are none, those in `reference_scenario`",
            "there is no such run",
        ),
        count_column(
            "identical_runs",
            "runs",
            "Number of runs that agree in every digit of all three metrics with the run of the same scenario and "
            "replication in which `observed` was requested.",
            "the scenario has no valid run in which `observed` was requested",
        ),
        number_column(
            "difference_percent",
            "%",
            "Largest difference in any of the three metrics, relative to the larger value, between a run and the run of the same "
            "scenario and replication in which `observed` was requested.",
            "no replication has both runs",
        ),
        text_column(
            "same_as",
            "Other requested CCAs, separated by commas. Their runs in the same scenario and IP version agree with this cell's runs in "
            "every digit of all three metrics.",
            "there are no such CCAs",
        ),
        NOTE,
    ),
)
