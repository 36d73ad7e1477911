"""Columns of the tables on several paths, as figures and report read them."""

from report_parts.report_columns import kinds_of

AGGREGATION = kinds_of(
    text="scenario cca ip_version scenario_label environment joined by distribution application even path_delay_ms "
    "platform conditions baseline equation note",
    number="rate_mbps paths n goodput_mbps transfer_s rtt_mean_ms packets_sent queue_drops retransmits "
    "out_of_order_segments out_of_order_mptcp reordering_events recoveries recoveries_undone spurious_retransmits "
    "cwnd_packets cpu_busy_percent cpu_seconds_per_gbyte goodput_low goodput_high goodput_sd_percent transfer_low "
    "transfer_high cpu_busy_low cpu_busy_high ceiling_mbps ceiling_percent factor factor_low factor_high "
    "ceiling_factor time_factor time_factor_low time_factor_high",
)
PATH_SHARES = kinds_of(
    text="scenario cca ip_version scenario_label environment joined by distribution application even path_delay_ms "
    "platform conditions",
    number="rate_mbps paths path n packets bytes queue_drops subflow_rtt_ms share_percent share_lowest share_highest",
)
