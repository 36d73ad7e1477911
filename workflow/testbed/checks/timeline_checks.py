"""The check of changes to the path: the time and value of each change, and the amount of data that passed between changes."""

import math

from testbed.checks.check import Check
from testbed.checks.read_back_checks import same

#: Maximum delay of a change in ns, under a virtual clock and under a real clock. Under a virtual clock, simultaneous changes delay each
#: other, because each reading advances the clock.
LATE_NS, REAL_LATE_NS = 50_000, 10_000_000
#: Number of packets that may pass in a period in excess of a shaper's rate: one released at the beginning, and one for unused tokens.
BEYOND_PACKETS = 2


def check_timeline(specification, document) -> Check:
    """All changes were made in order and on time, the kernel confirmed them, and the data that passed agree with the rates and delays."""
    asked, done, wrong = specification.timeline.changes, document.get("timeline", []), []
    latest_ns = LATE_NS if specification.virtual_clock else REAL_LATE_NS
    for change, entry in zip(asked, done, strict=False):
        late_ns = entry["realised_ns"] - change.at_ns
        if any(entry[name] != getattr(change, name) for name in ("at_ns", "direction", "quantity", "value", "kind")):
            wrong.append(f"{words(change)}: carried out as {entry['quantity']} {entry['value']:g}")
        elif not 0 <= late_ns <= latest_ns:
            wrong.append(f"{words(change)}: {late_ns / 1e6:g} ms late")
        values = [device["value"] for device in entry["devices"].values()]
        if not values or not all(same(value, change.value) for value in values):
            wrong.append(f"{words(change)}: the kernel reports {values}")
    wrong += passed_beyond(specification, done) + passed_beyond_trace(specification, done)
    wrong += left_too_slowly(specification, done) + delayed_otherwise(specification, done)
    if len(done) != len(asked):
        wrong.append(f"changes made: {len(done)}")
    expected = f"every change at most {latest_ns / 1e6:g} ms late and confirmed by the kernel (changes: {len(asked)})"
    late_ms = max((entry["realised_ns"] - entry["at_ns"] for entry in done), default=0) / 1e6
    observed = f"at most {late_ms:g} ms late, confirmed by the kernel (changes: {len(done)})"
    return Check("timeline", not wrong, expected, "; ".join(wrong[:5]) or observed)


def words(change) -> str:
    """Return a description of a change, such as "forward rate_mbps 10 at 5 s"."""
    return f"{change.direction} {change.quantity} {change.value:g} at {change.at_ns / 1e9:g} s"


def passed_beyond(specification, done) -> list[str]:
    """Return a problem description for each period between two rate changes in which a bottleneck passed more data than its rate allows."""
    wrong, before = [], {}
    for entry in done:
        if entry["quantity"] != "rate_mbps":
            continue
        for name, device in entry["devices"].items():
            if name in before and device["value"] is not None:
                begun, rate_mbps, passed = before[name]
                bytes_passed = device["bytes"] - passed
                most = rate_mbps * (entry["realised_ns"] - begun) / 8e3 + BEYOND_PACKETS * specification.packet_bytes
                # The shaper rounds the time per packet down to whole nanoseconds (psched_l2t_ns).
                packet_ns = specification.packet_bytes * 8e3 / rate_mbps
                if bytes_passed > most * packet_ns / math.floor(packet_ns):
                    wrong.append(
                        f"{name}: {bytes_passed} bytes passed at {rate_mbps:g} Mbit/s until {entry['at_ns'] / 1e9:g} s, "
                        "more than the rate allows"
                    )
            before[name] = (entry["realised_ns"], entry["value"], device.get("bytes", 0))
    return wrong


def left_too_slowly(specification, done) -> list[str]:
    """Return a problem description for each rate change after which a bottleneck's backlog didn't leave in time.

    The shaper sends its current packet at the old rate, so the new rate applies only to the packets after this one.
    """
    wrong, rates = [], {}
    for entry in done:
        for name, device in entry["devices"].items() if entry["quantity"] == "rate_mbps" else ():
            before = rates.get(name, specification.rate_in(entry["direction"])) or entry["value"]
            rates[name] = entry["value"]
            if "left_bytes" not in device:
                continue
            late_packets = max(1.0, entry["value"] / before) if before else 1.0
            lost = (BEYOND_PACKETS + late_packets + device["dropped_packets"]) * specification.packet_bytes
            waited = device["backlog_bytes"]
            if device["left_bytes"] < waited - lost:
                wrong.append(
                    f"{name}: only {device['left_bytes']} of the {waited} bytes that waited at {entry['at_ns'] / 1e9:g} s were sent in time"
                )
    return wrong


def delayed_otherwise(specification, done) -> list[str]:
    """Return a problem description for each delay that netem didn't apply correctly between one change and the next.

    At the next change, netem must have passed as many packets as had arrived one delay earlier, with a tolerance of `BEYOND_PACKETS`.
    Directions with jitter aren't checked.
    """
    wrong = []
    for number, entry in enumerate(done):
        after = next(
            (
                e
                for e in done[number + 1 :]
                if (e["direction"], e["quantity"]) == (entry["direction"], entry["quantity"])
            ),
            None,
        )
        for name, device in (
            entry["devices"].items() if after and not specification.direction(entry["direction"]).jitter_ms else ()
        ):
            left = after["devices"][name]["packets"]
            if "came_packets" in device and abs(left - device["came_packets"]) > BEYOND_PACKETS:
                wrong.append(
                    f"{name}: {left} packets had left by {after['at_ns'] / 1e9:g} s, "
                    f"but {device['came_packets']} had arrived one delay earlier"
                )
    return wrong


def passed_beyond_trace(specification, done) -> list[str]:
    """Return a list with one problem description if more data left a bottleneck than the trace offered since its first change.

    Otherwise the list is empty. The ideal goodput assumes that a trace's capacity is never exceeded. Each change may let one additional
    packet pass (`experiment.traces`).
    """
    wrong, first, counts = [], {}, {}
    for entry in done:
        if entry["kind"] != "trace":
            continue
        for name, device in entry["devices"].items():
            if device["value"] is None:
                continue
            counts[name] = counts.get(name, 0) + 1
            begun, passed = first.setdefault(name, (entry["realised_ns"], device["bytes"]))
            lasted_ns = entry["realised_ns"] - begun
            if not lasted_ns:
                continue
            rate_mbps = specification.timeline.mean_rate_mbps(begun, entry["realised_ns"], entry["direction"])
            beyond = (BEYOND_PACKETS + counts[name]) * specification.packet_bytes
            # The shaper rounds the time per packet down to whole nanoseconds.
            packet_ns = specification.packet_bytes * 8e3 / specification.timeline.most(entry["direction"], "rate_mbps")
            most = rate_mbps * lasted_ns / 8e3 * packet_ns / math.floor(packet_ns) + beyond
            if device["bytes"] - passed > most:
                bytes_passed = device["bytes"] - passed
                wrong.append(
                    f"{name}: {bytes_passed} bytes passed until {entry['at_ns'] / 1e9:g} s, but the trace allows at most {most:.0f}"
                )
    return wrong[:1]
