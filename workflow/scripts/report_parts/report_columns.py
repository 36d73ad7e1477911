"""Columns of the analysis tables that the report shows: a missing one stops it, by name."""


def kinds_of(text="", number=""):
    """Return the kinds of a table's columns, as `tidy_columns.read_table` wants them, from names parted by blanks."""
    return dict.fromkeys(text.split(), "text") | dict.fromkeys(number.split(), "number")


IP_VERSION_TESTS = kinds_of(
    text="metric unit scale effect_unit scenario scenario_label cca test equivalent verdict note",
    number="pairs mean_ipv4 mean_ipv6 effect ci_low ci_high hl hl_low hl_high rank_biserial "
    "normality_p p p_holm p_bh expected_effect p_expected p_expected_holm margin smallest_margin "
    "detectable pairs_needed",
)
IP_OVERALL = kinds_of(
    text="metric method null direction note", number="strata n_ipv4 n_ipv6 statistic p"
)
POOLED = kinds_of(
    text="metric name unit ip_version mode_note note",
    number="n mean median mode sd shapiro_w shapiro_p",
)
POOLED_TESTS = kinds_of(
    text="metric name conclusion hypothesis note", number="n_ipv4 n_ipv6 u p"
)
MODELS = kinds_of(
    text="scenario scenario_label cca ip_version model quantity unit note",
    number="n measured ratio_low ratio_high modelled ratio",
)
REGRESSIONS = kinds_of(
    text="response cca ip_version term expected_source agrees note",
    number="flows loss_configured_percent expected estimate ci_low ci_high r2 n scenarios",
)
CCA_TESTS = kinds_of(
    text="metric unit scenario scenario_label ip_version test note",
    number="ccas blocks statistic p p_holm kendall_w",
)
CCA_PAIRS = kinds_of(
    text="metric unit effect_unit scenario scenario_label ip_version cca_a cca_b test note",
    number="pairs mean_a mean_b effect ci_low ci_high hl hl_low hl_high cliffs_delta p p_holm",
)
CLAIMS = kinds_of(
    text="claim section statement kind unit published requirement verdict because tolerance remark",
    number="value low high runs",
)
MISLABELLED = kinds_of(
    text="scenario scenario_label cca observed ip_version reference_scenario same_as",
    number="runs goodput_mbps rtt_mean_ms retransmits goodput_mbps_asked rtt_mean_ms_asked "
    "retransmits_asked goodput_mbps_observed rtt_mean_ms_observed retransmits_observed "
    "identical_runs",
)
