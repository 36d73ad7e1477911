"""The analysis tables of the topic, column by column."""

from run_tables.run_keys import CELL_COLUMNS, RUN_KEYS, SCENARIO_LABEL
from run_tables.table import Table, count_column, number_column, ordinal_column, text_column

_DOWN = "the link is down"
_NO_PHASE = "no valid run has a value"
#: Columns that identify a phase of a path. Phases begin with the traffic and with changes (see `phases.moments_of`).
PHASE_COLUMNS = (
    ordinal_column("phase", "Number of the phase; phase 1 is before the first change."),
    text_column("change", "The change at the start of the phase, in words."),
    number_column("begin_s", "s", "Beginning of the phase, measured from the traffic's origin."),
    number_column("end_s", "s", "End of the phase: the next change, or the end of the traffic."),
    number_column(
        "rate_mbps",
        "Mbit/s",
        "Mean capacity of the path in the data's direction during the phase; 0 while the link is down.",
        "nothing limits the rate",
    ),
    number_column("rtt_path_ms", "ms", "RTT of the empty path at the start of the phase."),
)
#: Measures of a phase in one run; the means over a cell's runs have the same names.
MEASURES = (
    number_column("utilisation_percent", "%", "Data delivered by all `forward` flows during the phase, as a percentage of the path's capacity. Deliveries lag behind the bottleneck by up to a round trip.", _DOWN),
    number_column(
        "used_s", "s",
        "Time from the start of the phase to the end of the first period in which all `forward` flows together delivered 90 % of the path's capacity. "
        "A period is four RTTs of the empty path, but at least 0.2 s (RFC 5166, section 2.4.1, on the response to changes).",
        f"there was no such period; {_DOWN}; the rate comes from a trace",
    ),
    number_column("queue_mean_ms", "ms", "Mean queueing delay at the bottleneck.", "nothing limits the rate"),
    number_column("queue_max_ms", "ms", "Largest queueing delay at the bottleneck.", "nothing limits the rate"),
    number_column("queue_drops", "packets", "Number of packets dropped by the bottleneck's queue."),
    number_column("retransmits", "segments", "Number of segments retransmitted by all `forward` flows."),
    number_column(
        "believed_s", "s",
        "Time from the start of a phase with a longer RTT until the CCA of every flow kept a minimum RTT (BBR's RTprop, "
        "Vegas's base RTT) within 5 % of the path's RTT.",
        "the path's RTT had not become longer; the CCA keeps no minimum RTT; a flow's minimum RTT never came within 5 %",
    ),
)  # fmt: skip
CHANGE_RESPONSES = Table(
    "change_responses",
    "a phase of a valid run whose path changes: from one change to the next",
    (*RUN_KEYS, SCENARIO_LABEL, *PHASE_COLUMNS, *MEASURES),
    digits=6,
)
CHANGE_CELLS = Table(
    "change_cells",
    "a phase of a cell whose path changes, averaged over the valid runs",
    (
        *CELL_COLUMNS,
        SCENARIO_LABEL,
        *PHASE_COLUMNS,
        count_column("n", "runs", "Number of valid runs."),
        count_column("n_used", "runs", "Number of valid runs that have a value for `used_s`."),
        count_column("n_believed", "runs", "Number of valid runs that have a value for `believed_s`."),
        *(
            number_column(one.name, one.unit, f"{one.meaning} Averaged over the runs that have a value.", _NO_PHASE)
            for one in MEASURES
        ),
    ),
    digits=6,
)
