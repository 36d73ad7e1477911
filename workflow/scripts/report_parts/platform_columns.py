"""Columns of the analysis tables on buffers and platforms."""

from report_parts.report_columns import kinds_of

FLOW_GOODPUT = kinds_of(
    text="scenario scenario_label cca ip_version platform buffer",
    number="replication conditions bdp_percent flows fair_share_mbps mean_mbps sd_mbps min_mbps q1_mbps median_mbps "
    "q3_mbps max_mbps total_mbps mean_percent sd_percent total_percent jain_index starved",
)
FLOW_GOODPUT_CELLS = kinds_of(
    text="scenario scenario_label cca ip_version platform buffer statistic unit note",
    number="conditions bdp_percent n mean ci_low ci_high lowest highest",
)
PLATFORMS = kinds_of(
    text="setting buffer cca ip_version platform_a platform_b between metric unit scale effect_unit verdict note",
    number="conditions n_a n_b mean_a mean_b effect ci_low ci_high tost_low tost_high tolerance_low tolerance_high "
    "p_agree p_differ p_differ_bh",
)
PLATFORM_CAUSES = kinds_of(
    text="setting buffer cca ip_version metric kernel oldest newest effect_unit verdict_newest verdict_versions "
    "verdict_oldest cause",
    number="conditions kernel_to_newest newest_to_oldest kernel_to_oldest",
)
