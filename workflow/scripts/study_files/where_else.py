"""Hints for error messages: the key that should be used instead of an invalid key or value."""

from collections.abc import Callable


def _is_list(value) -> bool:
    return isinstance(value, list)


def _is_count(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


#: Last part of a key -> predicate for a value that belongs to another key, and a sentence that names the other key.
OF_VALUES: dict[str, tuple[Callable, str]] = {
    "rate_mbps": (_is_list, "To set one rate per path, use multipath.path_rate_mbps."),
    "delay_ms": (_is_list, "To set one delay per path, use multipath.path_delay_ms."),
    "loss_percent": (_is_list, "To set one loss per path, use multipath.path_loss_percent."),
    "packets": (_is_list, "To set one queue per path, use multipath.path_queue_packets."),
    "delayed_acks": (_is_count, "A kernel with examples/ack-segments.patch acknowledges every n-th segment, as in the study ack-frequency."),
    "protocol": (lambda value: value == "quic", "To use a QUIC stack, declare it in `programs` (docs/programs.md)."),
    "ccas": (lambda value: "prague" in str(value), "The study l4s defines a sender modelled on TCP Prague."),
    "discipline": (lambda value: value in ("tbf", "htb", "netem"), "To choose a shaper, use link.shaper."),
}  # fmt: skip
#: Part of an unknown key -> sentence that names the right key for the setting.
OF_KEYS = {
    "capture": "`make packets` records the packets of a finished run.",
    "pcap": "`make packets` records the packets of a finished run.",
    "tracepoint": "`make trace` records the kernel's events of a finished run.",
    "sysctl": "TCP settings are keys of transport.",
    "mtu": "To set the MTU of all links, use link.mtu_bytes.",
    "initcwnd": "To set the initial window, use transport.initial_window_packets.",
    "distribution": "To choose the distribution of delays, use link.jitter_distribution.",
    "ack_freq": "A kernel with examples/ack-segments.patch acknowledges every n-th segment, as in the study ack-frequency.",
}


def of_value(path, value) -> str:
    """Return a sentence that names the right key for an invalid value, preceded by a space; "" if the right key is unknown."""
    names = [step for step in path if isinstance(step, str)]
    means, sentence = OF_VALUES.get(names[-1] if names else "", (None, ""))
    return f" {sentence}" if means and means(value) else ""


def of_key(key) -> str:
    """Return a sentence that names the right key for an unknown key, preceded by a space; "" if the right key is unknown."""
    return next((f" {sentence}" for part, sentence in OF_KEYS.items() if part in str(key).lower()), "")
