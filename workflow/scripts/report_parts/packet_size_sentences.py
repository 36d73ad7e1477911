"""What a study of message sizes found, in sentences with numbers."""

from number_format import count, is_missing, number, plain
from report_parts.findings import Finding
from report_parts.report_data_tables import minus
from report_parts.sentence_words import listed
from scenario_words import ip_words
from size_tables.size_differences import ENVIRONMENT, IP_VERSION, PLATFORM
from size_tables.size_words import ENVIRONMENTS, TRAFFIC_NAMES
from wire_theory import TOLERANCE_PERCENT

ANCHOR = "packet-size"


def sentences(cells, differences):
    """Return the findings that the tables have something to say in."""
    named = (
        ("Headers", calculation_sentence(cells)),
        ("Packets", sent_sentence(cells)),
        ("IP version", ip_version_sentence(differences)),
        ("Server", environment_sentence(differences)),
        ("Kernel", platform_sentence(differences)),
    )
    return [Finding(topic, text, ANCHOR) for topic, text in named if text]


def cell_words(row):
    """Return "UDP of 128 bytes, IPv4, peer to peer"."""
    return f"{TRAFFIC_NAMES[row['traffic']]} of {plain(row['message_bytes'])} bytes, {ip_words(row['ip_version'])}, {ENVIRONMENTS[row['background']]}"


def calculation_sentence(cells):
    """Say in how many cells the value is what headers alone make of it."""
    known = cells[cells["agrees"].isin(["True", "False"])]
    if known.empty:
        return ""
    held = int((known["agrees"] == "True").sum())
    throughput, trips = known[known["metric"] == "goodput_mbps"], known[known["metric"] == "rtt_mean_ms"]
    parts = []
    if len(throughput):
        worst = throughput.loc[throughput["difference_percent"].abs().idxmax()]
        parts.append(f"throughput is at most {number(abs(worst['difference_percent']), 3)} % off ({cell_words(worst)})")
    quiet = trips[trips["background"] == "none"]
    if len(quiet):
        spread = quiet.groupby(["protocol", "ip_version"])["excess"].agg(lambda values: values.max() - values.min()).max()
        parts.append(
            f"a round trip takes {number(quiet['excess'].min(), 2)} to {number(quiet['excess'].max(), 2)} µs more than the cable needs, which is the "
            f"guest's clock and the same for all sizes to {number(spread, 2)} µs"
        )
    clock = " and, of round trips, the steps of the guest's clock" if len(trips) else ""
    what = f"In {held:,} of {count(len(known), 'cell')} the value is what the headers alone make of it, within {plain(TOLERANCE_PERCENT)} %{clock}"
    return f"{what}: {'; '.join(parts)}." if parts else f"{what}."


def sent_sentence(cells):
    """Say what TCP made of small messages."""
    mine = cells[(cells["background"] == "none") & (cells["ip_version"] == cells["ip_version"].iloc[0]) & cells["mean"].notna()]
    small = mine["message_bytes"].min()
    rows = {row["traffic"]: row for row in mine[mine["message_bytes"] == small].to_dict("records")}
    if "tcp" not in rows or is_missing(rows["tcp"]["packet_bytes"]):
        return ""
    text = (
        f"Messages of {plain(small)} bytes leave TCP in packets of {number(rows['tcp']['packet_bytes'], 0)} bytes of data on the average, "
        f"so their size hardly reaches the cable: {number(rows['tcp']['mean'], 1)} Mbit/s"
    )
    if "tcp-segments" in rows:
        text += f"; segments held to {plain(small)} bytes carry {number(rows['tcp-segments']['mean'], 1)} Mbit/s"
    return f"{text}."


def ip_version_sentence(differences):
    """Say how far IPv6 is from IPv4, and from what its header explains."""
    mine = differences[(differences["question"] == IP_VERSION) & differences["percent"].notna()]
    if mine.empty:
        return ""
    parts = []
    for traffic, name in TRAFFIC_NAMES.items():
        rows = mine[mine["traffic"] == traffic]
        if len(rows):
            parts.append(f"{name} {ends(rows['percent'])} %")
    text = f"IPv6 against IPv4, over all sizes: {listed(parts)}"
    apart = (mine["difference"] - mine["expected"]).abs()
    unexplained = [
        f"{number(apart[rows].max(), 2)} {unit} of {what}"
        for what, unit in (("throughput", "Mbit/s"), ("round trips", "µs"))
        for rows in [(mine["unit"] == unit) & apart.notna()]
        if rows.any()
    ]
    return f"{text}; 20 bytes of header more explain all but {listed(unexplained)}." if unexplained else f"{text}."


def ends(values):
    """Return the range of differences: "−9.35 to −1.32"."""
    low, high = (minus(number(value, 2)) for value in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def environment_sentence(differences):
    """Say what a server's other messages cost."""
    mine = differences[(differences["question"] == ENVIRONMENT) & differences["percent"].notna()]
    if mine.empty:
        return ""
    throughput, trips = mine[mine["unit"] == "Mbit/s"], mine[mine["unit"] != "Mbit/s"]
    parts = [f"throughput by {ends(rows['percent'])} %" for rows in (throughput,) if len(rows)]
    parts += [f"round trips by {ends(rows['percent'])} %" for rows in (trips,) if len(rows)]
    return f"A server that answers names, leases and a directory besides changes {listed(parts)}; the amount is the model's."


def platform_sentence(differences):
    """Say what the kernel's own time is."""
    mine = differences[(differences["question"] == PLATFORM) & differences["percent"].notna() & (differences["background"] == "none")]
    if mine.empty:
        return ""
    throughput, trips = mine[mine["unit"] == "Mbit/s"], mine[mine["unit"] != "Mbit/s"]
    parts = []
    if len(trips):
        for traffic in ("udp-rtt", "tcp-rtt"):
            rows = trips[trips["traffic"] == traffic]
            if len(rows):
                kernel, cable = (f"{number(rows[name].min(), 1)} to {number(rows[name].max(), 1)}" for name in ("mean_second", "mean_first"))
                parts.append(f"a {TRAFFIC_NAMES[traffic]} takes the kernel {kernel} µs, where the cable takes {cable}")
    if len(throughput):
        worst = throughput.loc[throughput["percent"].idxmin()]
        lost = f"{number(-worst['percent'], 2)} % less" if worst["percent"] < 0 else "no less"
        parts.append(f"throughput is {lost} at worst ({cell_words(worst)})")
    return f"On the machine's own kernel {'; '.join(parts)}."
