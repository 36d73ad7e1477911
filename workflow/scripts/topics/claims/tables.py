"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, SCENARIO_LABEL
from run_tables.table import Column, Table, count_column, number_column, ordinal_column, text_column, verdict_column
from run_tables.tidy_tables import RUNS
from topics.cells.tables import IN_UNIT, NOTE

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
#: Verdicts on claims for which the data are too imprecise, and for which there are no suitable runs.
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
        text_column("quantity", "Column that the claim is about, of runs, flows or time series."),
        text_column("unit", "Unit of `value`.", "it has none, or no value"),
        text_column("published", "The paper's value, with its unit."),
        number_column(
            "value",
            IN_UNIT,
            "The claim's statistic over this study's runs; p if the claim is about the outcome of a test.",
            _UNDECIDED,
        ),
        number_column(
            "low", IN_UNIT, "Lower end of the interval of `value`.", f"{_UNDECIDED}, or it is a p, or has no interval"
        ),
        number_column(
            "high",
            IN_UNIT,
            "Upper end of that interval.",
            f"{_UNDECIDED}, or it is a p, or has no interval; or the end is infinite",
        ),
        text_column(
            "interval",
            "Kind of interval: `t` for one mean or ratio, 95 % if replications are about normal; `joint t` for the "
            "lowest, highest or farthest of several, and `counted` for the number of comparisons that hold (Holm), "
            "at least 95 %; `of ranks` (Woodruff) for a median; `chi-square` for standard deviations.",
            _UNDECIDED,
        ),
        text_column(
            "requirement",
            "The statistic, and the bounds that are required for the claim to hold.",
            "the study has no runs for the claim",
        ),
        text_column("bounds", "The bounds in this requirement.", "there is no value, or it is a p"),
        verdict_column(
            "verdict",
            f"`{REPRODUCED}`, `{NOT_REPRODUCED}`, `{NOT_SHOWN}` or `{NOT_TESTABLE}`.",
            unmeasured=(NOT_TESTABLE,),
        ),
        text_column("because", "Reason in words."),
        text_column("tolerance", "Interpretation of the paper's words as a bound, with the reason."),
        text_column("remark", "Remark on the published value.", "there is none"),
        text_column(
            "cause",
            "The reason why the claim doesn't hold, from the claims file.",
            "it is reproduced or not testable, or the file gives no cause",
        ),
        count_column("runs", "runs", "Number of runs with a value of the claim's quantity."),
    ),
)
#: The change of the first version.
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
            "Number of runs that had a document when this version was first used; 0 means before the first run.",
        ),
        text_column(
            "change",
            f"`{FIXED}` (the first), or `added`, `changed`, `removed`, `paper or scenarios changed`, `comments or causes only`.",
        ),
        text_column("claim", "Identifier of the claim.", "the change affects no claim"),
    ),
)

_SCENARIO, _CCA, _IP_VERSION = CELL_COLUMNS
#: Metrics by which runs under a wrong name are compared.
MISLABELLED_METRICS = ("goodput_mbps", "rtt_mean_ms", "retransmits")


def _means(suffix: str, whose: str, empty: str) -> tuple[Column, ...]:
    """Return the columns with the means of `MISLABELLED_METRICS` over some runs."""
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
        text_column("observed", "CCA that ran, as reported by the sender; several are joined by `+`."),
        _IP_VERSION,
        count_column("runs", "runs", "Number of runs in which this CCA ran."),
        *_means("", "these runs", "none of them has a value"),
        text_column(
            "reference_scenario",
            "Scenario that allows the CCA and is otherwise the same.",
            "the study has no such scenario",
        ),
        *_means("_asked", "valid runs of the requested CCA in `reference_scenario`", "there is no such run"),
        *_means(
            "_observed",
            "valid runs that requested the CCA that ran, in the same scenario or otherwise in `reference_scenario`",
            "there is no such run",
        ),
        count_column(
            "identical_runs",
            "runs",
            "Runs that equal this CCA's own run of the same replication in every digit of all three metrics.",
            "the scenario has no valid run of this CCA",
        ),
        number_column(
            "difference_percent",
            "%",
            "Largest difference of a metric between these two runs, relative to the larger value.",
            "no replication has both",
        ),
        text_column(
            "same_as",
            "Other requested CCAs whose runs are the same in every digit, separated by commas.",
            "there is none",
        ),
        NOTE,
    ),
)
