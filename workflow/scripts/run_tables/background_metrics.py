"""Metrics of a server's background traffic (DNS, DHCP, LDAP), including its rate on the cable."""

from experiment.run_document import specification_of
from tcp_models.wire_theory import frame_bytes

#: Service -> transport protocol of its messages.
PROTOCOLS = {"dns": "udp", "dhcp": "udp", "directory": "tcp"}
NAMES = ("background_requests", "background_answers", "background_mbps", "background_back_mbps")


def background_metrics(document) -> dict[str, float | None]:
    """Return the columns `NAMES` of `tidy_tables.RUNS`; all are None without background traffic.

    Rates are averages over the duration of the traffic. No separate acknowledgements are counted for LDAP: each request also acknowledges
    the previous response.
    """
    services = document.get("background")
    if services is None:
        return dict.fromkeys(NAMES)
    run = specification_of(document)
    forward = back = 0
    for name, counts in services.items():
        headers = frame_bytes(0, PROTOCOLS[name], run.ip_version, run.link.frame_overhead_bytes)
        forward += counts["answer_bytes"] + counts["answer_segments"] * headers
        back += counts["request_bytes"] + counts["requests"] * headers
    seconds = max(map(_seconds, document["traffic"]))
    requests, answers = (sum(counts[name] for counts in services.values()) for name in ("requests", "answers"))
    return dict(zip(NAMES, (requests, answers, forward * 8e-6 / seconds, back * 8e-6 / seconds), strict=True))


def _seconds(process):
    """Return the duration of a client's traffic in s."""
    for name in ("round_trip", "transfer"):
        if name in process:
            return process[name]["seconds"]
    end = process["client"]["end"]
    return (end["sum"] if "sum" in end else end["sum_sent"])["seconds"]
