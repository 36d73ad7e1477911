"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import LABELLED_CELL, RUN_KEYS
from run_tables.series_tables import SOCKETS
from run_tables.table import (
    Table,
    columns_with_intervals,
    count_column,
    interval_columns,
    number_column,
    text_column,
    truth_column,
    verdict_column,
)
from run_tables.tidy_tables import FLOWS
from topics.cells.tables import IN_UNIT

_FLOW = (*RUN_KEYS, FLOWS["flow"], SOCKETS["flow_cca"])
_FLOWS_CCA = text_column("flow_cca", "CCA of the flows; in a mix, one of the mix's CCAs.")
_PHASE = text_column(
    "phase",
    "Phase of congestion control: `slow start`, `congestion avoidance`, `fast recovery`, `loss recovery`, or for BBR `Startup`, `Drain`, "
    "`ProbeBW`, `ProbeRTT`; `unknown` if the samples don't show the phase.",
)  # fmt: skip
_QUANTITY = text_column("quantity", "Measured quantity of the window, such as `peak` or `time between losses`.")
_UNIT = text_column("unit", "Unit of the quantity.")
_MEAN_INTERVAL = interval_columns(
    "ci_low", "ci_high", IN_UNIT, "the mean over runs", "there is only one run, or all runs give the same value"
)
_NOTHING = "no flow has a value, see the note"
_NO_THEORY = "theory gives no range for the quantity here"
_SHORT = "congestion avoidance took fewer than three round trips, or an RTT isn't known"

PHASE_SHARES = Table(
    "phase_shares",
    "a phase of the flows of a CCA in a cell",
    (
        *LABELLED_CELL,
        _FLOWS_CCA,
        _PHASE,
        count_column("runs", "", "Number of valid runs with samples."),
        *columns_with_intervals(
            number_column(
                "share_percent", "%", "Share of the flows' time that is spent in the phase, averaged over runs.",
                "the samples span no time", least=0, most=100,
            ),
            ends="ci",
        ),
        number_column("spells", "", "Mean number of times that a flow enters the phase during a run."),
    ),
)  # fmt: skip
WINDOW_THEORY = Table(
    "window_theory",
    "a quantity of the flows of a CCA in a cell",
    (
        *LABELLED_CELL,
        _FLOWS_CCA,
        _QUANTITY,
        _UNIT,
        count_column("runs", "", "Number of valid runs with flows of the CCA."),
        count_column("flows", "", "Number of flows with a value, over all valid runs."),
        count_column("n", "", "Number of averaged teeth, samples or probes, over all flows with a value."),
        number_column("mean", IN_UNIT, "Mean over runs; the value of a run is the mean over the run's flows.", _NOTHING),
        *_MEAN_INTERVAL,
        number_column("least", IN_UNIT, "Smallest value of any flow.", _NOTHING),
        number_column("most", IN_UNIT, "Largest value of any flow.", _NOTHING),
        number_column("theory_low", IN_UNIT, "Lower end of the theoretical range, averaged over runs.", _NO_THEORY),
        number_column("theory_high", IN_UNIT, "Upper end of the theoretical range, averaged over runs.", _NO_THEORY),
        number_column(
            "tolerance_percent", "%", "Tolerance by which the verdict extends the theoretical range.",
            "there is no theory for the quantity",
        ),
        count_column(
            "flows_as_theory", "",
            "Number of flows whose value lies within the theoretical range, extended by the tolerance.",
            "there is no verdict",
        ),
        verdict_column(
            "verdict",
            "Position of the interval relative to the theoretical range, extended by the tolerance: `as theory`, `above`, `below`, or "
            "`undecided` if the interval crosses an end of the range.",
            "there is no theory for this case, or samples are too far apart",
        ),
        text_column("note", "Reason why there is no value, interval or verdict.", "there are no remarks"),
    ),
)  # fmt: skip
FLOW_OUTCOMES = Table(
    "flow_outcomes",
    "a quantity of the flows of a cell",
    (
        *LABELLED_CELL,
        text_column(
            "quantity",
            "Quantity of a run's flows under test: `goodput` (the mean), `goodput_least`, `goodput_most`, `jain` (Jain's index), "
            "`retransmits` (of all these flows together), `rtt` (the mean).",
        ),
        text_column("unit", "Unit of the quantity.", "the quantity has no unit"),
        count_column("runs", "", "Number of valid runs with a value."),
        number_column("mean", IN_UNIT, "Mean over runs."),
        *_MEAN_INTERVAL,
        number_column("least", IN_UNIT, "Smallest value of any run."),
        number_column("most", IN_UNIT, "Largest value of any run."),
    ),
)  # fmt: skip
PHASES = Table(
    "phases",
    "a phase of a flow",
    (
        *_FLOW,
        _PHASE,
        number_column("begin_s", "s", "Time of the phase's first sample, counted from the traffic's origin."),
        number_column(
            "end_s",
            "s",
            "Time of the next phase's first sample; for the last phase, the time of the flow's last sample.",
        ),
    ),
    digits=10,
)
SAWTOOTH = Table(
    "sawtooth",
    "a quantity of a flow",
    (
        *_FLOW,
        _QUANTITY,
        _UNIT,
        count_column("n", "", "Number of averaged teeth, samples or probes."),
        number_column(
            "measured",
            IN_UNIT,
            "Mean over the flow's teeth, samples or probes.",
            "there is no tooth, sample or probe to average",
        ),
        number_column("theory_low", IN_UNIT, "Lower end of the theoretical range.", _NO_THEORY),
        number_column("theory_high", IN_UNIT, "Upper end of the theoretical range.", _NO_THEORY),
        text_column(
            "note",
            "Reason why there is no theory for this case.",
            "theory applies, or there is no theory for the quantity",
        ),
    ),
    digits=8,
)
TEETH = Table(
    "teeth",
    "a tooth of a flow's window: from one reduction to the next",
    (
        *_FLOW,
        number_column("begin_s", "s", "Time of the sample that first shows the reduction with which the tooth begins."),
        number_column("end_s", "s", "Time of the sample that first shows the next reduction."),
        truth_column(
            "steady",
            "Whether the tooth belongs to the steady state and therefore counts. The first tooth after slow start or a timeout doesn't count; with CUBIC, the second tooth doesn't count either.",
        ),
        number_column("mean_packets", "packets", "Mean congestion window over the tooth, recovery included."),
        number_column("avoidance_begin_s", "s", "Time of the tooth's first sample in congestion avoidance."),
        number_column("trough_packets", "packets", "Congestion window at `avoidance_begin_s`."),
        number_column("peak_packets", "packets", "Congestion window in the last sample before the next reduction."),
        number_column("left_packets", "packets", "ssthresh that the next reduction sets.", "ssthresh isn't known"),
        number_column("left_ratio", "", "`left_packets` divided by `peak_packets`.", "ssthresh isn't known"),
        number_column("period_s", "s", "Time from one reduction to the next."),
        number_column(
            "round_trips", "round trips", "Number of round trips in congestion avoidance, until the window's last step.",
            "an RTT isn't known",
        ),
        number_column("growth_packets", "packets", "Growth of the window during `round_trips`.", _SHORT),
    ),
    digits=6,
)  # fmt: skip
