"""Checks of multiple paths: the aggregation of the paths, and the share of packets on each path."""

from testbed.checks.check import INSTRUMENT, SENDER, Check
from testbed.checks.lost_packets import packets_lost
from testbed.network.multipath import plan

#: Allowed number of packets per path that aren't sent round robin (such as neighbour discovery) or are in transit.
OTHER_PACKETS = 16
#: Maximum relative deviation of a path's packet count from the mean of all paths, with round robin.
SHARE_TOLERANCE = 0.001
#: Minimum number of acknowledged bytes on a subflow that carried data. It exceeds the size of all messages on a control connection.
DATA_BYTES = 65_536
#: Kernel counters (MPTcpExt...) of connections that used plain TCP, permanently or temporarily, and of refused subflows. Counters that a
#: kernel doesn't have are ignored.
FALLBACKS = frozenset(
    "MPTcpExt" + name
    for name in (
        "MPCapableFallbackACK MPCapableFallbackSYNACK MPCapableDataFallback MPFallbackTokenInit MPCapableSYNTXDrop "
        "MPCapableSYNTXDisabled DssFallback DSSCorruptionFallback DSSCorruptionReset SimultConnectFallback FallbackFailed "
        "InfiniteMapTx InfiniteMapRx MPFailTx MPFailRx DSSNotMatching DSSNoMatchTCP DataCsumErr MPJoinNoTokenFound "
        "MPJoinSynAckHMacFailure MPJoinAckHMacFailure MPJoinRejected MPJoinSynTxCreatSkErr MPJoinSynTxBindErr "
        "MPJoinSynTxConnectErr MismatchPortSynRx MismatchPortAckRx Blackhole"
    ).split()
)


def check_multipath(specification, document) -> Check:
    """On both hosts, the tunnels and the bond, or MPTCP's limits and endpoints, are as planned."""
    wrong = []
    for host, wanted in plan(specification).items():
        read_back = document["network"]["read_back"]["multipath"][host]
        wrong += [f"{host}: {text}" for text in differences(wanted, read_back)]
    state = f"{specification.paths} paths aggregated by {specification.multipath.by}"
    return Check("multipath", not wrong, state, "; ".join(wrong) or state)


def differences(wanted, read_back, place="") -> list[str]:
    """Describe each value that differs from the expected value; ``place`` is the prefix of the descriptions.

    Additional entries are ignored in dicts, but not in lists.
    """
    if isinstance(wanted, dict) and isinstance(read_back, dict):
        return [
            text
            for name, value in wanted.items()
            for text in differences(value, read_back.get(name), f"{place} {name}".strip())
        ]
    if isinstance(wanted, list) and isinstance(read_back, list) and len(wanted) == len(read_back):
        return [text for pair in zip(wanted, read_back, strict=True) for text in differences(*pair, place)]
    return [] if wanted == read_back else [f"{place} is {read_back} instead of {wanted}"]


def check_subflows(specification, document) -> Check:
    """Every flow used one subflow on each path, all subflows carried data, and the kernel never fell back to plain TCP.

    If packets were lost, a subflow without data is a result and not a failure: it may have been established late, or the scheduler may have
    avoided a path with losses.
    """
    wrong, spared, cause = [], [], SENDER
    last = document["sockets"][-1]["sockets"] if document["sockets"] else []
    for flow in range(specification.flows):
        there = sorted(s["subflow"] for s in last if s["flow"] == flow)
        carrying = sorted(s["subflow"] for s in last if s["flow"] == flow and s.get("bytes_acked", 0) >= DATA_BYTES)
        paths = list(range(specification.subflows(specification.flow_pair(flow).index)))
        once_at_most = len(there) == len(set(there)) and set(there) <= set(paths)
        if not once_at_most or carrying != paths:
            cause = cause if once_at_most else INSTRUMENT
            excused = once_at_most and packets_lost(document) > 0
            text = f"flow {flow}: data on paths {', '.join(map(str, carrying)) or 'none'}"
            (spared if excused else wrong).append(text)
    for host, counters in document["stack"]["tcp"].items():
        fallbacks = [f"{host} {name} {count}" for name, count in counters.items() if count and name in FALLBACKS]
        wrong, cause = wrong + fallbacks, INSTRUMENT if fallbacks else cause
    expected = f"each flow with data on {specification.paths} subflows, one per path, and no fallback"
    return Check("subflows", not wrong, expected, "; ".join([*wrong, *spared]) or expected, cause)


def check_path_shares(specification, document) -> Check:
    """With round robin, each path carried an equal share of h1's packets.

    If the paths are assigned per flow, any shares are allowed.
    """
    sent = path_packets(document, "h1", specification.paths)
    shares = ", ".join(f"{100 * count / max(1, sum(sent)):.3f} %" for count in sent)
    if specification.multipath.distribution == "per-flow":
        return Check("path_shares", sum(sent) > 0, "any (the flows' ports determine the paths)", shares)
    fair = sum(sent) / len(sent)
    ok = fair > 0 and all(abs(count - fair) <= SHARE_TOLERANCE * fair + OTHER_PACKETS for count in sent)
    return Check("path_shares", ok, f"{100 / len(sent):.3f} % each", shares)


def path_packets(document, host, paths) -> list[int]:
    """Return the number of packets that a host sent on each path during the traffic."""
    before, after = (document["links"][when] for when in ("before", "after"))
    return [after[f"{host}-eth{p}"]["tx_packets"] - before[f"{host}-eth{p}"]["tx_packets"] for p in range(paths)]
