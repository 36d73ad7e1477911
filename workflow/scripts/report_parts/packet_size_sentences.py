"""What a study of message sizes found, in sentences with numbers."""

from number_format import count, number, plain
from report_parts.findings import Finding
from report_parts.report_data_tables import minus
from report_parts.sentence_words import listed
from scenario_words import ip_words
from size_tables.size_differences import ENVIRONMENT, IP_VERSION, PLATFORM
from size_tables.size_words import ENVIRONMENTS, TRAFFIC_NAMES, failure_words, network_words
from wire_theory import TOLERANCE_PERCENT

ANCHOR = "packet-size"
#: Unit -> what has it.
QUANTITIES = {"Mbit/s": "throughput", "µs": "round trips"}
SPREAD = "can't be told from the spread of runs"
#: Packets of the smallest messages that hold so much of those of the largest say nothing of the messages' size.
ALIKE = 0.9


def sentences(cells, differences):
    """Return the findings that the tables have something to say in."""
    if cells.empty:
        return []
    named = (
        ("Headers", calculation_sentence(cells)),
        ("Packets", sent_sentence(cells)),
        ("IP version", ip_version_sentence(differences)),
        ("Server", environment_sentence(differences)),
        ("Kernel", platform_sentence(differences)),
    )
    return [Finding(topic, text, ANCHOR) for topic, text in named if text]


def cell_words(row, table):
    """Return "UDP of 128 bytes, IPv4, peer to peer", and the CCA or the rate where the table has several."""
    network = network_words(table).get((row["cca"], row["rate_mbps"]))
    messages = f"{TRAFFIC_NAMES[row['traffic']]} of {plain(row['message_bytes'])} bytes"
    return ", ".join(filter(None, (messages, ip_words(row["ip_version"]), ENVIRONMENTS[row["background"]], network)))


def missing_words(table, value):
    """Return where there is no value and why: "UDP of 128 and 384 bytes: a core was saturated"."""
    gone = table[table[value].isna()]
    places = []
    for traffic, rows in gone.groupby("traffic", sort=False):
        sizes = [plain(size) for size in sorted(rows["message_bytes"].unique())]
        places.append(f"{TRAFFIC_NAMES[traffic]} of {listed(sizes)} bytes")
    names = list(dict.fromkeys(name for names in gone["failed_checks"] for name in names.split()))
    return f"{'; '.join(places)}{f': {failure_words(names)}' if names else ''}"


def calculation_sentence(cells):
    """Say in how many cells the value is what headers alone make of it, and which cells have none."""
    known = cells[cells["agrees"].isin(["True", "False"])]
    if known.empty:
        return ""
    held = int((known["agrees"] == "True").sum())
    throughput, trips = known[known["metric"] == "goodput_mbps"], known[known["metric"] == "rtt_mean_ms"]
    parts = []
    if len(throughput):
        worst = throughput.loc[throughput["difference_percent"].abs().idxmax()]
        parts.append(
            f"throughput is at most {number(abs(worst['difference_percent']), 3)} % off ({cell_words(worst, cells)})"
        )
    quiet = trips[trips["background"] == "none"]
    if len(quiet):
        spread = (
            quiet.groupby(["protocol", "ip_version"])["excess"].agg(lambda values: values.max() - values.min()).max()
        )
        parts.append(
            f"a round trip takes {number(quiet['excess'].min(), 2)} to {number(quiet['excess'].max(), 2)} µs more than the cable needs, which is the "
            f"guest's clock and the same for all sizes to {number(spread, 2)} µs"
        )
    clock = " and, of round trips, the steps of the guest's clock" if len(trips) else ""
    what = f"In {held:,} of {count(len(known), 'cell')} the value is what the headers alone make of it, within {plain(TOLERANCE_PERCENT)} %{clock}"
    text = f"{what}: {'; '.join(parts)}."
    # Of the same metrics: under a real clock nothing is calculated of a round trip.
    asked = cells[cells["metric"].isin(known["metric"])]
    gone = int(asked["mean"].isna().sum())
    if gone:
        verb = "has" if gone == 1 else "have"
        of, why = count(len(asked), "such cell"), missing_words(asked, "mean")
        text += f" {gone:,} of {of} {verb} no valid run ({why}), so nothing of this is about them."
    return text


def sent_by_tcp(cells):
    """Return peer-to-peer cells of TCP's messages and segments, of the first IP version, CCA and rate."""
    mine = cells[
        (cells["background"] == "none") & cells["packet_bytes"].notna() & cells["traffic"].isin(["tcp", "tcp-segments"])
    ]
    same = ["ip_version", "cca", "rate_mbps"]
    return mine[(mine[same] == mine[same].iloc[0]).all(axis=1)] if len(mine) else mine


def joined_by_tcp(cells):
    """Tell whether the smallest messages left in packets about as large as those of the largest."""
    mine = sent_by_tcp(cells)
    packets = mine[mine["traffic"] == "tcp"].sort_values("message_bytes")["packet_bytes"]
    return len(packets) > 1 and bool(packets.iloc[0] >= ALIKE * packets.iloc[-1])


def sent_sentence(cells):
    """Say what TCP made of small messages."""
    mine = sent_by_tcp(cells)
    rows = {
        row["traffic"]: row for row in mine[mine["message_bytes"] == mine["message_bytes"].min()].to_dict("records")
    }
    if "tcp" not in rows:
        return ""
    small, packet = rows["tcp"]["message_bytes"], rows["tcp"]["packet_bytes"]
    text = f"Messages of {plain(small)} bytes leave TCP in packets of {number(packet, 0)} bytes of data on the average"
    text += (
        ", so their size hardly reaches the cable"
        if joined_by_tcp(cells)
        else f" ({number(packet / small, 1)} messages each)"
    )
    text += f": {number(rows['tcp']['mean'], 1)} Mbit/s"
    if "tcp-segments" in rows:
        text += f"; segments held to {plain(small)} bytes carry {number(rows['tcp-segments']['mean'], 1)} Mbit/s"
    return f"{text}."


def ip_version_sentence(differences):
    """Say how far IPv6 is from IPv4, and from what its header explains."""
    mine = differences[(differences["question"] == IP_VERSION) & differences["percent"].notna()]
    if mine.empty:
        return ""
    if is_real(mine):
        known = mine[mine["expected"].notna() & mine["ci_low"].notna()]
        explained = int(((known["ci_low"] <= known["expected"]) & (known["expected"] <= known["ci_high"])).sum())
        header = (
            f" What 20 bytes of header more make lies in the interval in {explained:,} of {count(len(known), 'cell')}."
            if len(known)
            else ""
        )
        return f"{told_apart_sentence(mine, 'IPv6 against IPv4')}{header}"
    parts = []
    for traffic, name in TRAFFIC_NAMES.items():
        rows = mine[mine["traffic"] == traffic]
        if len(rows):
            parts.append(f"{name} {ends(rows['percent'])} %")
    text = f"IPv6 against IPv4, over all sizes: {listed(parts)}"
    apart = (mine["difference"] - mine["expected"]).abs()
    unexplained = [
        f"{number(apart[rows].max(), 2)} {unit} of {what}"
        for unit, what in QUANTITIES.items()
        for rows in [(mine["unit"] == unit) & apart.notna()]
        if rows.any()
    ]
    return f"{text}; 20 bytes of header more explain all but {listed(unexplained)}." if unexplained else f"{text}."


def is_real(differences):
    """Tell whether differences are of runs under a real clock, where a spread of its own comes on top."""
    return bool((differences["platform"] != "uml").all())


def ends(values):
    """Return the range of differences: "−9.35 to −1.32"."""
    low, high = (minus(number(value, 2)) for value in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def told_apart_sentence(rows, what):
    """Say in how many cells a difference can be told from the spread of runs: those whose interval excludes 0.

    Parameters
    ----------
    rows : pandas.DataFrame
        Of ``analysis/size_differences.csv``, with a value each.
    what : str
        What the differences are of.
    """
    parts, single = [], []
    for unit, quantity in QUANTITIES.items():
        mine = rows[rows["unit"] == unit]
        known = mine[mine["ci_low"].notna()]
        apart = known[(known["ci_low"] > 0) | (known["ci_high"] < 0)]
        if len(known):
            size = f" ({ends(apart['percent'])} % there)" if len(apart) else ""
            parts.append(f"{len(apart):,} of {count(len(known), 'cell')} of {quantity}{size}")
        elif len(mine):
            single.append(f"{quantity} ({ends(mine['percent'])} % in {count(len(mine), 'cell')})")
    sentence = ""
    if parts:
        sentence = f"{what}: the interval of the difference excludes 0 in {listed(parts)}; elsewhere it {SPREAD}."
    if single:
        sentence += f"{' ' if parts else ''}{what}: {listed(single)} {SPREAD}, for single runs have no interval."
    return sentence


def environment_sentence(differences):
    """Say what a server's other messages cost."""
    mine = differences[(differences["question"] == ENVIRONMENT) & differences["percent"].notna()]
    if mine.empty:
        return ""
    what = "A server that answers names, leases and a directory besides, against none"
    return f"{told_apart_sentence(mine, what)} How much it has to answer is the model's."


def platform_sentence(differences):
    """Say what the kernel's own time is, and where it could not keep up."""
    mine = differences[(differences["question"] == PLATFORM) & (differences["background"] == "none")]
    known = mine[mine["percent"].notna()]
    if known.empty:
        return ""
    throughput, trips = known[known["unit"] == "Mbit/s"], known[known["unit"] != "Mbit/s"]
    parts = []
    for traffic in ("udp-rtt", "tcp-rtt"):
        rows = trips[trips["traffic"] == traffic]
        if len(rows):
            kernel, cable = (
                f"{number(rows[name].min(), 1)} to {number(rows[name].max(), 1)}"
                for name in ("mean_second", "mean_first")
            )
            parts.append(f"a {TRAFFIC_NAMES[traffic]} takes the kernel {kernel} µs, where the cable takes {cable}")
    if len(throughput):
        parts.append(throughput_words(throughput, mine[mine["unit"] == "Mbit/s"]))
    return f"On the machine's own kernel {'; '.join(parts)}."


def throughput_words(known, asked):
    """Say how far throughput is off under a real clock, of how many cells, and which have none."""
    worst, most = known.loc[known["percent"].idxmin()], known["percent"].max()
    lost = (
        f"{number(-worst['percent'], 2)} % less at worst ({cell_words(worst, asked)})"
        if worst["percent"] < 0
        else "nowhere less"
    )
    higher = int((known["percent"] > 0).sum())
    more = f" and up to {number(most, 2)} % more in {higher:,} of them" if higher else ""
    of = (
        f"in the {len(known):,} of {count(len(asked), 'cell')} that have a value"
        if len(known) < len(asked)
        else f"of {count(len(known), 'cell')}"
    )
    text = f"throughput is, {of}, {lost}{more}"
    if len(known) < len(asked):
        text += (
            f"; the others have no valid run ({missing_words(asked, 'percent')}), so what is lost there is not known"
        )
    return text
