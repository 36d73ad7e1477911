"""Columns of the tables of a study of message sizes, and their kinds."""

from report_parts.report_columns import kinds_of

SIZE_CELLS = kinds_of(
    text="scenario scenario_label cca ip_version platform background traffic protocol metric unit agrees failed_checks",
    number="message_bytes rate_mbps runs n mean ci_low ci_high sd packet_bytes background_mbps background_back_mbps calculated excess "
    "difference_percent allowance cpu_us printed_mean printed_sd",
)
CELL_COLUMNS = tuple(SIZE_CELLS)
#: What is compared, and how: `of` names the two sides.
SIZE_DIFFERENCES = kinds_of(
    text="question traffic background ip_version platform cca first second unit note failed_checks",
    number="message_bytes rate_mbps n_first n_second mean_first mean_second difference ci_low ci_high percent expected "
    "expected_percent printed_percent cpu_us",
)
DIFFERENCE_COLUMNS = tuple(SIZE_DIFFERENCES)
