"""What traffic, environments and networks of a study of message sizes are called, and which scenarios it compares."""

from number_format import is_missing
from scenario_words import rate_words

ENVIRONMENTS = {"none": "peer to peer", "server": "client-server"}
TRAFFIC_NAMES = {
    "tcp": "TCP, messages",
    "tcp-segments": "TCP, segments",
    "udp": "UDP",
    "tcp-rtt": "TCP round trip",
    "udp-rtt": "UDP round trip",
}
#: What kept a real clock's runs from being valid, in words.
FAILURES = {"cpu_saturation": "a core was saturated", "clock": "the clock ran late"}


def traffic_name(topology, multipath, flows, application, protocol, segment_bytes):
    """Return which traffic over a cable a scenario has, a key of `TRAFFIC_NAMES`; None if it is not of this kind.

    Parameters
    ----------
    topology, multipath, application, protocol : str
    flows : int
    segment_bytes : number, str or None
        TCP's limit of a segment; nothing where the kernel chooses.
    """
    if (topology, multipath, flows) != ("cable", "none", 1) or application not in ("iperf3", "round-trip"):
        return None
    if application == "round-trip":
        return f"{protocol}-rtt"
    return "tcp-segments" if protocol == "tcp" and segment_bytes else protocol


def network_words(table):
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


def of_network(table, network):
    """Return the rows of a CCA and a rate, as `network_words` names them."""
    cca, rate = network
    same_rate = table["rate_mbps"].isna() if is_missing(rate) else table["rate_mbps"] == rate
    return table[(table["cca"] == cca) & same_rate]


def failure_words(names):
    """Return why runs are invalid by the names of the checks that failed: "a core was saturated"."""
    return " or ".join(FAILURES.get(name, f"the check {name} failed") for name in names)
