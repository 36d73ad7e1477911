"""Hints for error messages: the key that a user should use instead of an invalid key or value."""

from collections.abc import Callable


def _is_list(value) -> bool:
    return isinstance(value, list)


def _is_count(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


#: Last part of a key -> predicate for a value that belongs to another key, and a sentence that names the other key.
OF_VALUES: dict[str, tuple[Callable, str]] = {
    "rate_mbps": (_is_list, "One rate for each path is multipath.path_rate_mbps."),
    "delay_ms": (_is_list, "The additional delay of each path is multipath.path_delay_ms."),
    "loss_percent": (_is_list, "One loss for each path is multipath.path_loss_percent."),
    "packets": (_is_list, "One queue for each path is multipath.path_queue_packets."),
    "delayed_acks": (_is_count, "A kernel with examples/ack-segments.patch acknowledges every n-th segment, as in the study ack-frequency."),
    "protocol": (lambda value: value == "quic", "A QUIC stack is one of `programs` (docs/programs.md)."),
    "ccas": (lambda value: "prague" in str(value), "The study l4s defines a sender modelled on TCP Prague."),
    "discipline": (lambda value: value in ("tbf", "htb", "netem"), "The shaper is link.shaper."),
}  # fmt: skip
#: Part of an unknown key -> sentence with the right key for this setting.
OF_KEYS = {
    "capture": "`make packets` records the packets of a finished run.",
    "pcap": "`make packets` records the packets of a finished run.",
    "tracepoint": "`make trace` records the kernel's events of a finished run.",
    "sysctl": "TCP settings are keys of transport.",
    "mtu": "The MTU of all links is link.mtu_bytes.",
    "initcwnd": "Use transport.initial_window_packets.",
    "distribution": "The distribution of delays is link.jitter_distribution.",
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
