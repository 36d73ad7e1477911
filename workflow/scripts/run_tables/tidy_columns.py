"""Read tidy and analysis tables, and stop at one that isn't what it should be.

Text columns stay text ("1" is a scenario's name, "nan" may be one), an empty number is
missing, and a missing or foreign column is an error that names the file.
"""

import pandas as pd

CELL = ["scenario", "cca", "ip_version"]
RUN = [*CELL, "replication"]


def _kinds(text="", truth="", number=""):
    kinds = {}
    for kind, names in (("text", text), ("truth", truth), ("number", number)):
        kinds |= dict.fromkeys(names.split(), kind)
    return kinds


RUNS = _kinds(
    text="scenario scenario_label cca ip_version invalid_because",
    truth="valid",
    number="replication seed rate_mbps delay_ms rtt_path_ms loss_configured_percent flows "
    "queue_packets duration_s mss_bytes ideal_goodput_mbps goodput_mbps rtt_mean_ms rtt_min_ms "
    "loss_percent retransmits throughput_per_stream_mbps rtt_first_stream_ms retransmit_percent "
    "packets_sent queue_drops link_drops",
)
CHECKS = _kinds(
    text="scenario cca ip_version check expected observed", truth="ok", number="replication"
)
SCENARIOS = _kinds(
    text="scenario label queue platform netem processes",
    truth="segmentation_offload",
    number="rate_mbps delay_forward_ms delay_reverse_ms jitter_forward_ms jitter_reverse_ms "
    "loss_forward_percent loss_reverse_percent queue_packets flows bitrate_mbps duration_s",
)
FLOW_GOODPUTS = _kinds(text="scenario cca ip_version", number="replication flow goodput_mbps")
DESCRIPTIVE = _kinds(
    text="scenario scenario_label cca ip_version metric unit note",
    number="n mean ci_low ci_high median sd min max shapiro_w shapiro_p",
)
VALIDITY = _kinds(
    text="scenario scenario_label cca ip_version reasons", number="total valid excluded"
)
CHECK_COUNTS = _kinds(text="check expected_example observed_example", number="passed failed")


def read_table(path, kinds):
    """Read a CSV file and check its columns.

    Parameters
    ----------
    path : str or path
        The file.
    kinds : dict of str to str
        Columns it must have, each "text", "truth" or "number". Other columns are kept as text.

    Returns
    -------
    pandas.DataFrame
        Rows and columns as in the file.

    Raises
    ------
    ValueError
        If the file is no CSV, a column is missing, or a value isn't of its column's kind.
    """
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a CSV table ({error})") from error
    missing = sorted(set(kinds) - set(table.columns))
    if missing:
        raise ValueError(f"{path}: no column {', '.join(missing)}")
    columns = {name: table[name].astype(object) for name in table.columns}
    for name, kind in kinds.items():
        if kind == "truth":
            columns[name] = _truths(path, table[name])
        elif kind == "number":
            columns[name] = _numbers(path, table[name])
    return pd.DataFrame(columns, index=table.index)


def _truths(path, values):
    _refuse(path, values, ~values.isin(["True", "False"]), "True or False")
    return values == "True"


def _numbers(path, values):
    numbers = pd.to_numeric(values.where(values != ""), errors="coerce").astype(float)
    _refuse(path, values, numbers.isna() & (values != ""), "a number")
    return numbers


def _refuse(path, values, wrong, expected):
    if wrong.any():
        line = int(wrong.to_numpy().argmax()) + 2
        raise ValueError(
            f"{path}, line {line}: {values.name} is '{values[wrong].iloc[0]}'; expected {expected}"
        )


def read_runs(path):
    """Read ``tidy/runs.csv``: one row a run, in the study's order.

    Raises
    ------
    ValueError
        As `read_table`, and if there is no run or one stands there twice.
    """
    runs = read_table(path, RUNS)
    if runs.empty:
        raise ValueError(f"{path}: no run in it")
    _number_replications(path, runs)
    twice = runs[runs.duplicated(RUN)]
    if len(twice):
        raise ValueError(f"{path}: the run {run_name(twice.iloc[0])} stands there twice")
    return runs


def read_checks(path):
    """Read ``tidy/checks.csv``: one row a check of a run."""
    checks = read_table(path, CHECKS)
    _number_replications(path, checks)
    return checks


def _number_replications(path, table):
    values = table["replication"]
    _refuse(path, values, ~(values % 1 == 0), "a whole number")
    table["replication"] = values.astype(int)


def run_name(row):
    """Return a run's name as in its path: ``scenario/cca/ip_version/replication``."""
    return "/".join(str(row[key]) for key in RUN)


def link_packets(runs):
    """Return how many packets reached the lossy link in each run: those that the queue let pass.

    Parameters
    ----------
    runs : pandas.DataFrame
        With packets_sent and queue_drops.

    Returns
    -------
    pandas.Series of float
        Missing where queue and link share one netem and their drops can't be told apart.
    """
    return runs["packets_sent"] - runs["queue_drops"]
