"""Sentences that report the findings of a study of message sizes, with the numbers."""

from report_parts.data_tables import minus
from report_parts.material import Finding
from tcp_models.wire_theory import TOLERANCE_PERCENT
from topics.packet_size.size_differences import ONE_MEASUREMENT
from topics.packet_size.topic import TOPIC
from topics.packet_size.traffic import (
    ENVIRONMENT,
    ENVIRONMENTS,
    IP_VERSION,
    PLATFORM,
    QUANTITIES,
    TRAFFIC,
    network_words,
)
from wording.number_format import count, is_missing, number, plain
from wording.scenario_words import ip_words
from wording.sentence_words import listed

SPREAD = "can't be distinguished from the variation between runs"
#: Name of a check that can fail under a real clock -> the reason in words.
FAILURES = {"cpu_saturation": "a core was saturated", "clock": "the clock ran late"}
#: TCP counts as joining messages if the mean data per packet with the smallest messages is at least this fraction of the mean with the
#: largest messages.
ALIKE = 0.9


def sentences(cells, differences, header_margin) -> list[Finding]:
    """Return the findings that the tables support; ``header_margin`` is the study's margin for the cost of headers, in percent."""
    if cells.empty:
        return []
    texts = (
        ("Headers", _calculation_sentence(cells)),
        ("Packets", sent_sentence(cells)),
        ("IP version", ip_version_sentence(differences, header_margin)),
        ("Server", environment_sentence(differences)),
        ("Kernel", _platform_sentence(differences)),
    )
    return [Finding(name, text, TOPIC.anchor) for name, text in texts if text]


def _cell_words(row, table):
    """Describe a cell: "UDP of 128 bytes, IPv4, peer to peer", with the CCA or the rate if the table contains several."""
    network = network_words(table).get((row["cca"], row["rate_mbps"]))
    messages = f"{TRAFFIC[row['traffic']].name} of {plain(row['message_bytes'])} bytes"
    return ", ".join(filter(None, (messages, ip_words(row["ip_version"]), ENVIRONMENTS[row["background"]], network)))


def _missing_words(table, value):
    """Name the cells without a value, and the reason: "UDP of 128 and 384 bytes: a core was saturated"."""
    missing = table[table[value].isna()]
    places = []
    for traffic, rows in missing.groupby("traffic", sort=False):
        sizes = [plain(size) for size in sorted(rows["message_bytes"].unique())]
        places.append(f"{TRAFFIC[traffic].name} of {listed(sizes)} bytes")
    checks = dict.fromkeys(name for names in missing["failed_checks"] for name in names.split())
    why = " or ".join(FAILURES.get(name, f"the check {name} failed") for name in checks)
    return f"{'; '.join(places)}{f': {why}' if why else ''}"


def _calculation_sentence(cells):
    """Report the number of cells that agree with the calculation from headers, and name the cells without a value."""
    judged = cells[cells["agrees"].isin(["True", "False"])]
    if judged.empty:
        return ""
    agreeing = int((judged["agrees"] == "True").sum())
    throughput, trips = (judged[judged["metric"] == quantity.metric] for quantity in QUANTITIES)
    parts = []
    if len(throughput):
        worst = throughput.loc[throughput["difference_percent"].abs().idxmax()]
        parts.append(
            f"throughput is at most {number(abs(worst['difference_percent']), 3)} % off ({_cell_words(worst, cells)})"
        )
    quiet = trips[(trips["background"] == "none") & (trips["agrees"] == "True")]
    if len(quiet):
        excess = quiet.groupby(["protocol", "ip_version"])["excess"]
        spread = (excess.max() - excess.min()).max()
        low, high = (number(value, 2) for value in (quiet["excess"].min(), quiet["excess"].max()))
        which = "a round trip" if len(quiet) == (trips["background"] == "none").sum() else "a round trip that agrees"
        parts.append(
            f"{which} takes {low} to {high} µs more than the cable needs because of the guest's clock, and this excess "
            f"varies by at most {number(spread, 2)} µs across sizes"
        )
    clock = " and, for round trips, the steps of the guest's clock" if len(trips) else ""
    what = (
        f"In {agreeing:,} of {count(len(judged), 'cell')} the mean agrees with the value calculated from the headers, within "
        f"{plain(TOLERANCE_PERCENT)} %{clock}{f': {text}' if (text := '; '.join(parts)) else ''}."
    )
    return f"{what}{_without_value(cells[cells['metric'].isin(judged['metric'])])}"


def _without_value(cells):
    """Name the cells without a value; ``cells`` contains only metrics that can be calculated."""
    missing = int(cells["mean"].isna().sum())
    if not missing:
        return ""
    verb = "has" if missing == 1 else "have"
    of, why = count(len(cells), "such cell"), _missing_words(cells, "mean")
    return f" {missing:,} of {of} {verb} no valid run ({why}), so nothing is known about them."


def _sent_by_tcp(cells):
    """Return the peer-to-peer cells of TCP messages and segments for the first IP version, CCA and rate."""
    of_tcp = cells["packet_bytes"].notna() & cells["traffic"].isin(["tcp", "tcp-segments"])
    tcp = cells[(cells["background"] == "none") & of_tcp]
    same = ["ip_version", "cca", "rate_mbps"]
    return tcp[(tcp[same] == tcp[same].iloc[0]).all(axis=1)] if len(tcp) else tcp


def messages_joined(cells) -> bool:
    """Return whether packets with the smallest messages are about as large as packets with the largest messages."""
    tcp = _sent_by_tcp(cells)
    packets = tcp[tcp["traffic"] == "tcp"].sort_values("message_bytes")["packet_bytes"]
    return len(packets) > 1 and bool(packets.iloc[0] >= ALIKE * packets.iloc[-1])


def sent_sentence(cells) -> str:
    """Report the size of the packets in which TCP sent small messages."""
    tcp = _sent_by_tcp(cells)
    smallest = tcp[tcp["message_bytes"] == tcp["message_bytes"].min()]
    by_traffic = {row["traffic"]: row for row in smallest.to_dict("records")}
    if "tcp" not in by_traffic:
        return ""
    messages, segments = by_traffic["tcp"], by_traffic.get("tcp-segments")
    size, packet = messages["message_bytes"], messages["packet_bytes"]
    separate = f" ({number(packet / size, 1)} messages each)"
    ending = ", so the size of messages hardly matters on the cable" if messages_joined(cells) else separate
    held = f"; segments limited to {plain(size)} bytes carry {number(segments['mean'], 1)} Mbit/s" if segments else ""
    return (
        f"Messages of {plain(size)} bytes leave TCP in packets of {number(packet, 0)} bytes of data on average"
        f"{ending}: {number(messages['mean'], 1)} Mbit/s{held}."
    )


def ip_version_sentence(differences, header_margin) -> str:
    """Report the difference between IPv6 and IPv4, and the part of the difference that IPv6's longer header explains.

    Under a real clock, report instead in how many cells the header explains the difference to within ``header_margin`` (a percentage of
    IPv4's mean).
    """
    rows = differences[(differences["question"] == IP_VERSION) & differences["percent"].notna()]
    if rows.empty:
        return ""
    # A real clock adds its own variation.
    if (rows["platform"] != "uml").all():
        judged = rows[rows["expected"].notna() & rows["ci_low"].notna()]
        margin = header_margin / 100 * judged["mean_first"]
        low, high = (judged[end] - judged["expected"] for end in ("ci_low", "ci_high"))
        shown, denied = int(((low > -margin) & (high < margin)).sum()), int(((low > margin) | (high < -margin)).sum())
        text = _spread_sentence(rows, "IPv6 against IPv4")
        if judged.empty:
            return text
        return (
            f"{text} The 20 additional header bytes are shown to explain the difference within ±{plain(header_margin)} % in {shown:,} of "
            f"{count(len(judged), 'cell')}, and shown not to explain it in {denied:,}."
        )
    parts = []
    for traffic, kind in TRAFFIC.items():
        percent = rows.loc[rows["traffic"] == traffic, "percent"]
        if len(percent):
            parts.append(f"{kind.name} {_range_words(percent)} %")
    missing = int(((differences["question"] == IP_VERSION) & differences["percent"].isna()).sum())
    sizes = f"{count(len(rows), 'pair')} of cells (others without a valid run: {missing:,})" if missing else "all sizes"
    text = f"IPv6 against IPv4, over {sizes}: {listed(parts)}"
    apart = (rows["difference"] - rows["expected"]).abs().groupby(rows["unit"]).max()
    unexplained = [
        f"{number(apart[quantity.unit], 2)} {quantity.unit} of {quantity.words}"
        for quantity in QUANTITIES
        if not is_missing(apart.get(quantity.unit))
    ]
    return f"{text}; 20 more header bytes explain all but {listed(unexplained)}." if unexplained else f"{text}."


def _range_words(values):
    """Return the range of differences: "−9.35 to −1.32"."""
    low, high = (minus(number(value, 2)) for value in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def _spread_sentence(differences, what):
    """Report in how many cells the interval of the difference excludes 0, and describe the cells without an interval."""
    parts, single, exact = [], [], []
    for quantity in QUANTITIES:
        rows = differences[differences["unit"] == quantity.unit]
        known = rows[rows["ci_low"].notna()]
        apart = known[(known["ci_low"] > 0) | (known["ci_high"] < 0)]
        if len(known):
            size = f" ({_range_words(apart['percent'])} % there)" if len(apart) else ""
            parts.append(f"{len(apart):,} of {count(len(known), 'cell')} for {quantity.words}{size}")
        repeated = rows[rows["note"].astype(str).str.endswith(ONE_MEASUREMENT)]
        if len(repeated):
            exact.append(f"{quantity.words} by {_range_words(repeated['percent'])} % in {count(len(repeated), 'cell')}")
        rows = rows.drop([*known.index, *repeated.index])
        if len(rows):
            single.append(f"{quantity.words} ({_range_words(rows['percent'])} % in {count(len(rows), 'cell')})")
    texts = []
    if parts:
        texts.append(
            f"{what}: the interval of the difference excludes 0 in {listed(parts)}; elsewhere the difference {SPREAD}."
        )
    if exact:
        texts.append(f"{what}: {listed(exact)}, where runs repeat one measurement.")
    if single:
        texts.append(f"{what}: {listed(single)} {SPREAD}, because there is no interval.")
    return " ".join(texts)


def environment_sentence(differences) -> str:
    """Report the effect of the server's other messages on throughput and round-trip time."""
    rows = differences[(differences["question"] == ENVIRONMENT) & differences["percent"].notna()]
    if rows.empty:
        return ""
    what = "A server that also answers DNS, DHCP and LDAP requests, compared with no server"
    return f"{_spread_sentence(rows, what)} The server's load comes from the model."


def _platform_sentence(differences):
    """Report the kernel's processing time, and the cells in which the kernel could not keep up."""
    rows = differences[(differences["question"] == PLATFORM) & (differences["background"] == "none")]
    throughput, trips = (rows[rows["unit"] == quantity.unit] for quantity in QUANTITIES)
    parts = []
    for traffic in ("udp-rtt", "tcp-rtt"):
        times = trips[(trips["traffic"] == traffic) & trips["percent"].notna()]
        if len(times):
            ends = times[["mean_second", "mean_first"]].agg(["min", "max"])
            kernel, cable = (f"{number(low, 1)} to {number(high, 1)}" for low, high in ends.T.to_numpy())
            parts.append(f"the kernel takes {kernel} µs for a {TRAFFIC[traffic].name}, and the cable {cable} µs")
    if throughput["percent"].notna().any():
        parts.append(_throughput_words(throughput))
    return f"On the machine's own kernel: {'; '.join(parts)}." if parts else ""


def _throughput_words(differences):
    """Report the difference in throughput between the real and the virtual clock, and name the cells without a value."""
    known = differences[differences["percent"].notna()]
    worst, most = known.loc[known["percent"].idxmin()], known["percent"].max()
    lost = "nowhere lower than with the virtual clock"
    if worst["percent"] < 0:
        lost = f"at worst {number(-worst['percent'], 2)} % lower than with the virtual clock ({_cell_words(worst, differences)})"
    higher = int((known["percent"] > 0).sum())
    more = f" and up to {number(most, 2)} % higher in {higher:,} of them" if higher else ""
    if len(known) == len(differences):
        return f"throughput in {count(len(known), 'cell')} is {lost}{more}"
    return (
        f"throughput in the {len(known):,} of {count(len(differences), 'cell')} that have a value is {lost}{more}; "
        f"the others have no valid run ({_missing_words(differences, 'percent')}), so the difference there is unknown"
    )
