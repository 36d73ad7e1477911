"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, REPLICATION, SCENARIO_LABEL, VALID
from run_tables.table import (
    Table,
    columns_with_intervals,
    count_column,
    interval_columns,
    number_column,
    ordinal_column,
    text_column,
    truth_column,
)
from run_tables.tidy_tables import FLOWS

_SCENARIO, _CCA, _IP_VERSION = CELL_COLUMNS
_POSITION = ordinal_column(
    "position", "Position of the flow's CCA in the mix, counted from 0; if all flows run one CCA, the flow's number."
)
_PLACE = (_SCENARIO, SCENARIO_LABEL, _IP_VERSION)
_PAIR = (
    *_PLACE,
    text_column("row_cca", "The CCA to which the share belongs."),
    text_column("column_cca", "CCA of the competing flows."),
)  # fmt: skip
_NO_SHARE = "the goodputs of some of the run's flows are unknown, or all of them are 0"
_NO_VALID_RUN = "no run is valid, or none has a value"
_NO_TEST = "there are fewer than two values, or all are equal"
_NO_FAIR_TEST = f"{_NO_TEST}, or the run has no other flows"
_NO_COMPARISON = "this is the base, or this scenario or the base has fewer than two values"
_NO_VARIANCE = (
    "this is the base, this scenario or the base has fewer than two values, or neither has two different values"
)
_NO_ORDER_TEST = "there are too few replications with both orders, or all of them give the same difference"
_REPLICATIONS = count_column(
    "replications",
    "replications",
    "Number of replications with a valid run whose share is known; means and intervals are over these replications.",
)


def _estimate(name, unit, meaning, of, ends="", most=None):
    """Return the columns for an estimate over replications and its interval; `of` names the estimated quantity."""
    return columns_with_intervals(
        number_column(name, unit, meaning, _NO_VALID_RUN, least=0, most=most), of=of, ends=ends
    )


_SHARE = _estimate(
    "share", "", "Typical share of the row's CCA, with each side counted as one flow: the mean on the scale of log-ratios.",
    "the typical share", most=1,
)  # fmt: skip
_JAIN = _estimate(
    "jain", "", "Typical Jain's index of the run's flows: the mean on the scale of logits between 1/n and 1.",
    "the typical Jain's index", most=1,
)  # fmt: skip
_NOTE = text_column("note", "Reason why a value is missing, or was computed differently.", "there are no remarks")

FLOW_SHARES = Table(
    "flow_shares",
    "a flow under test of a run",
    (
        _SCENARIO,
        SCENARIO_LABEL,
        _CCA,
        _IP_VERSION,
        REPLICATION,
        VALID,
        FLOWS["flow"],
        FLOWS["flow_cca"],
        _POSITION,
        FLOWS["pair"],
        FLOWS["rtt_path_ms"],
        FLOWS["start_offset_ms"],
        truth_column("first", "Whether the flow was scheduled to start first; `False` for all flows of the run if they were scheduled to start simultaneously."),
        *(FLOWS[name] for name in ("window_begin_ns", "window_end_ns", "delivered_bytes", "goodput_mbps")),
        number_column("resolution_mbps", "Mbit/s", "Resolution of `goodput_mbps`: one packet at each end of the window."),
        number_column("share", "", "The flow's goodput divided by the sum over all flows under test of the run.", _NO_SHARE),
        number_column("fair_share", "", "1 divided by the number of the run's flows under test."),
        number_column(
            "jain_index", "",
            "Jain's fairness index of the goodputs of the run's flows under test: 1 if all are equal, 1/n if one flow gets everything.",
            _NO_SHARE,
        ),
        FLOWS["rtt_mean_ms"],
        FLOWS["retransmits"],
    ),
)  # fmt: skip
SHARES = Table(
    "shares",
    "a position of a mix in a scenario and IP version",
    (
        *_PLACE,
        _CCA,
        _POSITION,
        text_column("flow_cca", "CCA of the flows in this position."),
        count_column("flows", "", "Number of flows in this position in a run."),
        text_column("pair", "Numbers (from 1) of the host pairs used by the flows in this position, separated by spaces."),
        number_column("rtt_path_ms", "ms", "Mean RTT of the empty paths of the flows in this position."),
        count_column("n", "replications", "Number of valid replications whose share is known."),
        *_estimate(
            "goodput_mbps", "Mbit/s", "Mean goodput per flow in this position, averaged over valid replications.",
            "the mean goodput", "goodput",
        ),
        *_estimate(
            "share", "", "Typical share of all flows in this position together: the mean on the scale of log-ratios.",
            "the typical share", most=1,
        ),
        *_estimate(
            "fair_ratio", "", "`share` divided by the fair share, which is the number of flows in this position divided by the number of all flows.",
            "`fair_ratio`",
        ),
        *_JAIN,
        *_estimate(
            "rtt_mean_ms", "ms", "Mean RTT of a flow in this position, averaged over valid replications.",
            "the mean RTT", "rtt",
        ),
        *_estimate(
            "retransmits", "segments", "Mean number of retransmitted segments per flow in this position, averaged over valid replications.",
            "the mean number of retransmitted segments",
        ),
        count_column("started_first", "replications", "Number of valid replications in which a flow in this position was scheduled to start first."),
        text_column("test", "Test of the share against the fair share: `sign flips of the mean, log-ratios`.", _NO_FAIR_TEST),
        number_column("p", "", "Two-sided p-value of the test.", _NO_FAIR_TEST),
        number_column(
            "p_holm", "",
            "`p` adjusted over the tests of the scenario and IP version by Holm's procedure; both sides of a pair are one test.",
            _NO_FAIR_TEST,
        ),
        _NOTE,
    ),
)  # fmt: skip
SHARE_PAIRS = Table(
    "share_pairs",
    "a CCA against another CCA in a scenario and IP version",
    (
        *_PAIR,
        text_column(
            "orders",
            "`both` if a+b and b+a are one condition and are combined; `as named` if the row has only the order with the row's CCA first.",
        ),
        _REPLICATIONS,
        count_column("runs", "", "Number of valid runs whose share is known."),
        *_SHARE,
        number_column("share_mean", "", "Arithmetic mean of the shares.", _NO_VALID_RUN),
        number_column("share_min", "", "Smallest share in a replication.", _NO_VALID_RUN),
        number_column("share_max", "", "Largest share in a replication.", _NO_VALID_RUN),
        number_column("row_mbps", "Mbit/s", "Mean goodput per flow of the row's CCA.", _NO_VALID_RUN),
        number_column("column_mbps", "Mbit/s", "Mean goodput per flow of the column's CCA.", _NO_VALID_RUN),
        *_JAIN,
        number_column("jain_min", "", "Smallest Jain's index in a replication.", _NO_VALID_RUN),
        text_column("test", "Test of the share against half: `sign flips of the mean, log-ratios`.", _NO_TEST),
        number_column("p", "", "Two-sided p-value of the test.", _NO_TEST),
        number_column(
            "p_holm", "", "`p` adjusted over the pairs of the scenario and IP version by Holm's procedure, with each pair counted once.",
            "`p` is missing, or two flows of one CCA have the same path",
        ),
        number_column(
            "order_effect", "%",
            "Increase in the ratio of the two goodputs if the row's CCA is first in the mix instead of second.",
            "the orders aren't combined, or no replication has both orders",
        ),
        *interval_columns("order_low", "order_high", "%", "`order_effect`", _NO_ORDER_TEST),
        number_column(
            "order_p", "", "Two-sided p-value of `order_effect`, from sign flips of the log-ratios within replications.",
            _NO_ORDER_TEST,
        ),
        number_column("order_p_holm", "", "`order_p` adjusted like `p_holm`.", _NO_ORDER_TEST),
        _NOTE,
    ),
)  # fmt: skip
_NO_ORDER = "one of the positions starts first in fewer than two draws, or all advantages are equal"
START_ORDER = Table(
    "start_order",
    "an advantage for a pair of CCAs, or for the mean of all pairs",
    (
        text_column("effect", "Origin of the advantage: `first pair of hosts` or `first to start`."),
        _IP_VERSION,
        text_column("cca_a", "One CCA of the pair.", "the row is the mean of all pairs"),
        text_column("cca_b", "The other CCA of the pair.", "the row is the mean of all pairs"),
        count_column(
            "units", "draws",
            "Number of draws of the start times (one per scenario and replication) in which the flow that starts first is known.",
        ),
        number_column("share", "", "Share of the first pair of hosts, or of the first flow to start, if nothing else differs; 0.5 means that there is no advantage.", _NO_ORDER),
        *interval_columns("share_low", "share_high", "", "`share`", _NO_ORDER),
        number_column("ratio_percent", "%", "The advantage as a change in the ratio of the two goodputs.", _NO_ORDER),
        *interval_columns("ratio_low", "ratio_high", "%", "`ratio_percent`", _NO_ORDER),
        number_column(
            "smallest_margin", "%", "Smallest margin at which two one-sided tests show that the two goodputs are equivalent.", _NO_ORDER,
        ),
        text_column("test", "`Welch's t` for the hosts' advantage, `permutation` for the advantage of starting first.", _NO_ORDER),
        number_column("p", "", "Two-sided p-value of the test.", _NO_ORDER),
        number_column("p_holm", "", "`p` adjusted over the pairs by Holm's procedure.", "`p` is missing, or the row is the mean of all pairs"),
        _NOTE,
    ),
)  # fmt: skip
FAIRNESS_FACTORS = Table(
    "fairness_factors",
    "a level of a factor, for a CCA against another CCA",
    (
        text_column(
            "factor",
            "The only condition that differs from the base: `buffer_bdp`, `rtt_ms`, `rtt_ratio`, `loss_percent` or `rate_mbps`.",
        ),
        number_column(
            "level", "", "Level of the factor, in the unit at the end of the factor's name.", "the scenario has no such limit",
        ),
        number_column("base_level", "", "Level of the factor in the base scenario.", "the base has no such limit"),
        *_PAIR,
        _REPLICATIONS,
        *_SHARE,
        *_JAIN,
        number_column("base_share", "", "Typical share of the row's CCA in the base scenario.", "this is the base, or the base has no valid run of the pair"),
        number_column("effect", "%", "Change in the ratio of the two goodputs from the base to this level.", _NO_COMPARISON),
        *interval_columns("effect_low", "effect_high", "%", "the change", _NO_VARIANCE),
        number_column("statistic", "", "Welch's t for the log-ratios of the two goodputs.", _NO_VARIANCE),
        number_column("df", "", "Degrees of freedom of `statistic`.", _NO_VARIANCE),
        number_column("p", "", "Two-sided p-value of `statistic`.", _NO_VARIANCE),
        number_column("p_holm", "", "`p` adjusted over the levels and pairs of the factor and IP version by Holm's procedure.", _NO_VARIANCE),
        _NOTE,
    ),
)  # fmt: skip
SHARE_THEORY = Table(
    "share_theory",
    "a CCA against another CCA in a scenario and IP version, and one model of their shares",
    (
        text_column("model", "Model: `BBR's window` (Ware et al., 2019) or `Reno-friendly region` (RFC 9438)."),
        *_PAIR,
        number_column("buffer_bdp", "BDP", "Size of the bottleneck's queue."),
        number_column("queue_packets", "packets", "Size of the bottleneck's queue in full packets."),
        number_column("reno_s", "s", "Time that Reno needs to return to the window at the last loss.", "a different model applies"),
        number_column("cubic_s", "s", "Time that the cubic function needs to return to the window at the last loss.", "a different model applies"),
        number_column("predicted", "", "Share predicted by the model.", "the model only predicts a share above one half"),
        text_column("expected", "Expected share in words, such as `0.97` or `above 0.50`."),
        _REPLICATIONS,
        *_SHARE,
        number_column("off", "", "`share` minus `predicted`.", "`share` or `predicted` is missing"),
        text_column(
            "agrees",
            "`yes` if the whole interval agrees with the model, `no` if no part of it does. A share agrees if it is within 0.05 of the "
            "model's share or, if the model only predicts a share above one half, if it is above one half. If all runs give the same "
            "share, this share is judged instead of an interval.",
            "only a part of the interval agrees with the model, or there is only one run",
        ),
        _NOTE,
    ),
)  # fmt: skip
