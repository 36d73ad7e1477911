"""Logs (qlog) of declared programs, in the guest."""

import pytest

from program_runs import SENDER
from run_tables.program_deliveries import with_program_deliveries
from run_tables.tidy_rows import factors
from run_tables.time_series import socket_tables

#: A sender that first writes its log: a line of qlog, with times in ms since 1970.
LOGGING = {
    "qlog": "*.qlog", "ccas": ["udp"], "protocol": "udp", "reports_bytes": "bytes", "path": "sender.py",
    "client": SENDER["client"],
}  # fmt: skip
READING = r'{"time_format":"absolute"}\n{"time":%s,"name":"recovery:metrics_updated","data":{"congestion_window":48400,"smoothed_rtt":40.5}}\n'


def logging(text):
    """Return a program that logs ``text`` 1.5 s after its start, with %s for the time, and sends by `SENDER`."""
    script = f"(sleep 1.5; printf '{text}' $(($(date +%s%N) / 1000000)) > {{logs}}/a.qlog) & exec "
    return LOGGING | {"server": ["sh", "-c", script + SENDER["server"].replace("{bytes}", "'{bytes}'")]}


def test_what_a_program_logs_stands_beside_what_the_kernel_tells(carried):
    """Its congestion window in packets, and its RTT, at the times of the run's clock; without `qlog` nothing is read."""
    traffic = {"duration_s": 3, "sample_interval_ms": 50}
    groups = {"name": "x", "program": "p:udp", "stop_s": 3}, {"name": "tcp", "stop_s": 3}
    document = carried(*groups, programs={"p": logging(READING)}, traffic=traffic, name="logged")
    assert document["verdict"]["valid"]
    log = document["programs"][0]["server"]["qlog"]
    assert log["readings"] == 1 and log["aligned"] and log["complete"]
    # It was started before the traffic's origin, and so logged between 0 and 1.5 s behind it.
    assert 0 < log["from_ns"] < 1.5e9
    whole = with_program_deliveries(document)
    tables = {
        table["flow"][0].as_py(): table for table in socket_tables(whole, factors(document), {0: "reno", 1: "p:udp"})
    }
    rows = tables[1].select(["time_s", "cwnd_packets", "rtt_ms", "state"]).to_pylist()
    before = [row for row in rows if row["time_s"] * 1e9 <= log["from_ns"]]
    behind = [row for row in rows if row["time_s"] * 1e9 > log["from_ns"] + 5e7]
    assert before and {row["cwnd_packets"] for row in before} == {None}
    assert {(round(row["cwnd_packets"], 6), row["rtt_ms"], row["state"]) for row in behind} == {
        (round(48400 / 1200, 6), 40.5, "unknown")
    }
    assert tables[0]["cwnd_packets"][0].as_py() >= 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("GIF89a", "qlog: a.qlog: is not a qlog in JSON"),
        ("[" * 500, "qlog: a.qlog: is not a qlog in JSON"),
        ("", "is empty"),
    ],
)
def test_a_log_that_nobody_can_read_is_a_finding(carried, text, found):
    document = carried(
        {"name": "x", "program": "p:udp", "stop_s": 2}, programs={"p": logging(text)}, failing=["qlog"],
        traffic={"duration_s": 2, "sample_interval_ms": 50},
    )  # fmt: skip
    (check,) = (check for check in document["verdict"]["checks"] if check["name"] == "qlog")
    assert found in check["observed"] and check["cause"] == "instrument"
    assert document["programs"][0]["client"]["reported"] > 0 and len(check["observed"]) < 400


def test_logs_are_kept_with_the_packets_and_change_nothing(made, testbed, tmp_path):
    """Two programs, one of which ends early, leave logs with any names; links, pipes and other files aren't copied."""
    odd = "mkdir {logs}/d.qlog; mkfifo {logs}/p.qlog; ln -s /etc/passwd {logs}/l.qlog; echo 1 > {logs}/b.txt; "
    early, late = logging("one " + READING), logging("other " + READING)
    for program in (early, late):
        program["server"][2] = odd + program["server"][2].replace("a.qlog", "'a b;\u00e4.qlog'")
    asked = made(
        {"name": "x", "program": "p:udp", "stop_s": 2}, {"name": "y", "program": "q:udp", "stop_s": 3}, {"name": "tcp", "stop_s": 3},
        programs={"p": early, "q": late}, traffic={"duration_s": 3, "sample_interval_ms": 50},
    )  # fmt: skip
    files = tmp_path / "captured"
    files.mkdir()
    programs = ["--programs", str(tmp_path / "programs")]
    for output, recorded in (("a", []), ("b", ["--packets", str(files), "--at", "h1-eth0"])):
        done = testbed(asked, tmp_path / f"{output}.json.gz", *programs, *recorded)
        assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    logs = {file.name: file.read_text() for file in files.iterdir() if file.suffix != ".pcapng"}
    assert [(name, text.split()[0]) for name, text in sorted(logs.items())] == [
        ("server-14001.a_b__.qlog", "one"),
        ("server-14065.a_b__.qlog", "other"),
    ]
