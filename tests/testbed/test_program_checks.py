"""Checks of declared programs on documents: who failed, how much arrived, and what only follows from a failure."""

from types import SimpleNamespace

import pytest

from run_tables.exclusions import excluded_by
from testbed.checks import program_checks
from testbed.checks.check import SENDER


def specification(seconds=10.0, bytes_=None, loss_percent=0, **program):
    """Return the specification of a run with one flow of a program, on a path with a loss."""
    declared = {
        "protocol": "udp", "data_from": "server", "server_ends": "killed", "client_ends": "itself", "reports_bytes": "bytes",
        "ready_line": None, "label": "mine:a", "qlog": "*.qlog",
    }  # fmt: skip
    flow = SimpleNamespace(
        program=SimpleNamespace(**declared | program), seconds=seconds, bytes=bytes_, who="mine:a (flow 0 of group own)", number=0,
        port=14001, start_s=0.0, pair=SimpleNamespace(direction="forward"),
    )  # fmt: skip
    return SimpleNamespace(
        program_flows=[flow], timeline=SimpleNamespace(value_at=lambda *_: loss_percent), option=lambda *_: 0, largest_packet_bytes=1514
    )  # fmt: skip


def document(arrived=10**6, reported=None, status=0, server="at the end", log=None, ran_s=10.0):
    """Return the part of a run document that the checks read."""
    sides = {
        side: {"started_ns": 0, "ended_ns": round(1e9 * ran_s), "status": of, "ended_by": by, "printed_bytes": 9, "reported": said, "last": "",
               "qlog": log or {"readings": 5}}
        for side, by, of, said in (("client", "itself", status, reported), ("server", server, -15, None))
    }  # fmt: skip
    packets = {
        "bytes_arrived": arrived, "distinct_bytes": None, "packets_sent": 1000, "packets_arrived": 1000, "other_packets": 0,
        "fragmented_packets": 0, "largest_packet_bytes": 1242,
    }  # fmt: skip
    return {"programs": [{"ready": True} | sides], "program_packets": {"missed": 0, "flows": [packets]}}


CHECKS = (program_checks.check_programs, program_checks.check_program_data, program_checks.check_qlog)
NO_LOG = {"problem": "no file matches *.qlog"}


@pytest.mark.parametrize(
    "of_run, of_document, failed, by",
    [
        ({}, {"reported": 980_000}, [], ""),
        ({}, {"reported": 980_000, "log": NO_LOG}, ["qlog"], "instrument"),
        # A program that crashed may have written no log.
        ({}, {"status": -6, "log": NO_LOG}, ["programs"], SENDER),
        ({}, {"reported": None, "log": NO_LOG}, ["programs"], SENDER),
        # Numbers in other units.
        ({}, {"arrived": 80_000, "reported": 80}, ["program_data"], SENDER),
        ({}, {"arrived": 99_000, "reported": 0}, ["program_data"], SENDER),
        ({}, {"arrived": 1_000_000, "reported": 1_000_001}, ["program_data"], SENDER),
        # A short flow with its handshake.
        ({"seconds": None, "bytes_": 100}, {"arrived": 12_000, "reported": 100}, [], ""),
        # Repeated packets arrived, but not all data.
        ({"seconds": None, "bytes_": 10**6}, {"arrived": 1_100_000, "reported": 300_000}, ["program_data"], SENDER),
        ({"seconds": None, "bytes_": 10**6}, {"arrived": 1_100_000, "reported": 10**6}, [], ""),
        ({"seconds": None, "bytes_": 9000}, {"arrived": 12_000, "reported": 0}, ["program_data"], SENDER),
        ({"seconds": None, "bytes_": 10**6, "reports_bytes": None}, {"arrived": 999_999}, ["program_data"], SENDER),
        # On a path that is cut off, a server can't learn that its client has ended.
        ({"server_ends": "itself"}, {"reported": 980_000}, ["programs"], SENDER),
        ({"server_ends": "itself", "loss_percent": 50}, {"reported": 980_000}, [], ""),
        ({"server_ends": "itself", "loss_percent": 50}, {"server": "not started"}, ["programs"], SENDER),
    ],
)  # fmt: skip
def test_what_fails_and_why(of_run, of_document, failed, by):
    checks = [check(specification(**of_run), document(**of_document)) for check in CHECKS]
    assert [one.name for one in checks if not one.ok] == failed, [one.observed for one in checks]
    verdict = {"valid": not failed, "checks": [{"ok": one.ok, "cause": one.cause} for one in checks]}
    assert excluded_by({"verdict": verdict}) == by


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, " (exit status 0)"),
        (3, " (exit status 3)"),
        (-11, " (signal 11)"),
        (-25, " (signal 25: its files exceeded 64 MiB)"),
    ],
)
def test_how_a_side_ended(status, words):
    assert program_checks.how({"ended_by": "itself", "status": status}) == words
