"""The topics there are, each named once: in the order of the report's questions and of its findings."""

from importlib import import_module

from topics.topic import Topic

NAMES = (
    "expectations",
    "exam",
    "calibration",
    "time_series",
    "path_changes",
    "policers",
    "queues",
    "short_flows",
    "real_time",
    "fairness",
    "buffers",
    "platforms",
    "packet_size",
    "multipath",
    "chain",
    "failover",
    "subflows",
    "speed",
    "ccas",
    "ip_version",
    "delay_and_loss",
    "variance",
    "theory",
    "published",
    "claims",
    "sensitivity",
    "controls",
    "precision",
    "validity",
    "cells",
)
TOPICS: tuple[Topic, ...] = tuple(import_module(f"topics.{name}.topic").TOPIC for name in NAMES)
