"""What the comparisons, environments and networks of a study of message sizes are called."""

from wording.scenario_words import rate_words

#: What is compared, as the column `question` has it.
IP_VERSION, ENVIRONMENT, PLATFORM = "IP version", "environment", "platform"
#: Values of the column `background`.
ENVIRONMENTS = {"none": "peer to peer", "server": "client-server"}
#: What kept a real clock's runs from being valid, in words.
FAILURES = {"cpu_saturation": "a core was saturated", "clock": "the clock ran late"}


def network_words(table) -> dict[tuple, str]:
    """Return what tells a table's cells apart besides traffic, environment, IP version and size, where that varies.

    Parameters
    ----------
    table : pandas.DataFrame
        With columns cca and rate_mbps.

    Returns
    -------
    dict
        (CCA, rate) -> "", "reno", "1 Gbit/s" or "reno, 1 Gbit/s", in the table's order.
    """
    several = {name: table[name].nunique(dropna=False) > 1 for name in ("cca", "rate_mbps")}
    return {
        (cca, rate): ", ".join(
            [*([cca] if several["cca"] else []), *([rate_words(rate)] if several["rate_mbps"] else [])]
        )
        for cca, rate in table[["cca", "rate_mbps"]].drop_duplicates().itertuples(index=False)
    }


def failure_words(names) -> str:
    """Return why runs are invalid by the names of the checks that failed: "a core was saturated"."""
    return " or ".join(FAILURES.get(name, f"the check {name} failed") for name in names)
