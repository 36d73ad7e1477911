"""Declared programs as flows, in the guest: measured from their packets, the same bytes each time, and confined."""

import gzip
import json
import shutil
import subprocess

import pytest

from program_runs import SENDER, documents_of_three_tries, findings, group_rows, place
from run_tables.group_tables import GROUPS
from run_tables.program_deliveries import with_program_deliveries
from run_tables.reading import read_runs, read_table
from run_tables.tidy_rows import rows_of_run
from run_tables.tidy_tables import TIDY_TABLES
from run_tables.tidying import tidy
from study_files import study as studies
from testbed.machine.program_files import digest_of, files_of, write_archive


def test_udp_is_measured_to_the_packet(carried):
    """A stream of known rate on an empty path: each packet is counted, and each delay is the path's."""
    document = carried({"name": "stream", "program": "udp:udp", "start_s": 1, "stop_s": 3})
    (packets,) = document["program_packets"]["flows"]
    # 2 s at 8 Mbit/s of 1,200 bytes, and the end.
    assert packets["packets_sent"] == 1666 + 1 and packets["packets_arrived"] == packets["packets_sent"]
    assert packets["bytes_arrived"] == 1666 * 1200 + 3 and packets["distinct_bytes"] is None
    assert packets["frame_bytes_sent"] == packets["bytes_sent"] + packets["packets_sent"] * (14 + 20 + 8)
    assert set(packets["delay_ns"]) <= set(range(20_000_000, 20_010_000))
    (entry,) = document["programs"]
    assert entry["client"]["reported"] == 1666 * 1200 and entry["client"]["ended_by"] == "itself"
    row = group_rows(document)["stream"]
    assert row["goodput_mbps"] == pytest.approx(8, rel=0.01) and row["lost_percent"] == 0
    assert row["queueing_p99_ms"] < 0.01 and row["repeated_percent"] is None and row["group_cca"] == "udp:udp"


def executed_study(testbed, tmp_path, path, **programs):
    """Execute one replication of each CCA of a study, alone; return the results folder, with ``tidy/runs.csv``."""
    config = {
        "study": "plain", "ccas": ["reno", "tcp:tcp"], "ip_versions": ["ipv4"], "replications": 1,
        "programs": {"tcp": SENDER | {"protocol": "tcp", "ccas": ["tcp"]} | programs},
        "defaults": {"link": {"rate_mbps": 10, "delay_ms": 20}, "traffic": {"duration_s": 3}}, "scenarios": [{"id": "alone"}],
    }  # fmt: skip
    study, paths, folder = studies.resolve(config, "plain.yaml"), [], tmp_path / "results/plain"
    (folder / "programs").mkdir(parents=True)
    files = files_of(path)
    write_archive(files, folder / "programs" / f"{digest_of(files)[:16]}.tar")
    for of_run in studies.runs(study):
        paths.append(folder / "/".join(map(str, ("runs", *of_run[:3], f"{of_run[3]}.json.gz"))))
        paths[-1].parent.mkdir(parents=True)
        done = testbed(studies.run_specification(study, *of_run), paths[-1], "--programs", str(folder / "programs"))
        assert done.returncode == 0, done.stderr[-2000:]
    (folder / "tidy").mkdir()
    outputs = {
        name: folder / "tidy" / f"{name}.csv" for name in (*(table.name for table in TIDY_TABLES), "runs_parquet")
    } | {"provenance": folder / "tidy/provenance.json"}
    tidy({key: value for key, value in study.items() if key != "analysis"}, [*map(str, paths)], outputs, {})
    return folder


def test_a_study_of_a_program_and_the_kernels_ccas_has_tables_without_groups(testbed, tmp_path, monkeypatch):
    """No scenario has groups; the program's run, whose flow replaces the kernel's, has a row in the table of groups all the same."""
    monkeypatch.chdir(tmp_path)
    place("sender.py")
    folder = executed_study(testbed, tmp_path, "sender.py")
    (group,) = read_table(folder / "tidy/groups.csv", GROUPS).to_dict("records")
    runs = read_runs(folder / "tidy/runs.csv").set_index("cca")
    assert group["group_cca"] == "tcp:tcp" and runs["valid"].all()
    assert group["goodput_mbps"] == pytest.approx(runs["goodput_mbps"]["tcp:tcp"], rel=0.02)


def test_an_amount_has_a_completion_time(carried):
    document = carried({"name": "file", "program": "tcp:tcp", "bytes": 1_000_000, "count": 2, "start_s": 0.5})
    row = group_rows(document)["file"]
    # Two of 1 MB over 10 Mbit/s take 1.65 s, and slow start.
    assert row["complete"] == 2 and 1000 < row["completion_p50_ms"] <= row["completion_p99_ms"] < 2300
    assert [flow["distinct_bytes"] for flow in document["program_packets"]["flows"]] == [1_000_000] * 2


def test_a_client_may_send_and_a_server_end_by_itself(carried):
    """Data in the opposite direction: the server counts, and ends when it has everything."""
    counting = {
        "path": None, "protocol": "tcp", "data_from": "client", "server_ends": "itself", "ready_line": "ready",
        "server": ["python3", "-c", "import socket, sys; s = socket.create_server((sys.argv[1], int(sys.argv[2]))); print('ready', flush=True); c, _ = s.accept()\nn = 0\nwhile d := c.recv(65536): n += len(d)\nprint('got', n)", "{server_address}", "{port}"],
        "client": ["python3", "-c", "import socket, sys; c = socket.create_connection((sys.argv[1], int(sys.argv[2]))); c.sendall(bytes(int(sys.argv[3]))); c.close()", "{server_address}", "{port}", "{bytes}"],
        "reports_bytes": "got",
    }  # fmt: skip
    document = carried({"name": "up", "program": "count", "bytes": 500_000}, programs={"count": counting})
    (entry,), (packets,) = document["programs"], document["program_packets"]["flows"]
    assert (entry["server"]["reported"], packets["distinct_bytes"], entry["server"]["ended_by"]) == (
        500_000,
        500_000,
        "itself",
    )


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(made, testbed, tmp_path):
    """Three executions, two of them on a machine with other work."""
    asked = made(
        {"name": "prog", "program": "tcp:tcp", "stop_s": 2},
        {"name": "udp", "program": "udp:udp", "stop_s": 2},
        duration_s=2,
    )
    assert len(documents_of_three_tries(asked, testbed, tmp_path)) == 1


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_the_random_device_of_cpp_can_be_made_to_follow_the_seed(carried, root, tmp_path):
    """As examples/random_device.c says: without it, the numbers are the processor's, and differ from run to run."""
    (folder := tmp_path / "mine").mkdir()
    place("sender.py").rename(folder / "sender.py")
    (tmp_path / "numbers.cpp").write_text(
        '#include <cstdio>\n#include <random>\nint main() { std::random_device from; std::printf("numbers %u %u\\n", from(), from()); }\n'
    )
    subprocess.run(["g++", "-o", folder / "numbers", "numbers.cpp"], cwd=tmp_path, check=True)
    device = root / "examples/random_device.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "librandom.so", device], check=True)
    for library in ("libstdc++.so.6", "libgcc_s.so.1"):
        found = subprocess.run(["g++", f"-print-file-name={library}"], capture_output=True, text=True, check=True)
        shutil.copy(found.stdout.strip(), folder)
    program = SENDER | {
        "path": "mine", "ccas": ["udp"],
        "client": "env LD_LIBRARY_PATH={folder} LD_PRELOAD={folder}/librandom.so "
        "sh -c '{folder}/numbers; exec {folder}/sender.py get udp {server_address} {port} well'",
    }  # fmt: skip
    group = {"name": "x", "program": "p:udp", "stop_s": 2}
    said = [
        carried(group, programs={"p": program}, duration_s=2, name=str(number))["programs"][0]["client"]["last"]
        for number in range(2)
    ]
    assert said[0].startswith("numbers ") and said[0] == said[1]
    program["client"] = program["client"].replace("LD_PRELOAD={folder}/librandom.so ", "")
    said.append(carried(group, programs={"p": program}, duration_s=2, name="own")["programs"][0]["client"]["last"])
    assert said[2].startswith("numbers ") and said[2] != said[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "finding"),
    [
        ("get udp {server_address} {port} crash", "the client failed (signal 6), output: panic: out of ideas"),
        ("get udp {server_address} {port} hang", "the client had not ended in time, no output"),
        ("get udp {server_address} {port} flood", "the client printed more than is allowed, output: xxx"),
        ("get udp {server_address} {port} memory", "the client failed (exit status 1), output:"),
        ("get udp {server_address} {port} silent", "it reported no number in plain digits after 'bytes', no output"),
        ("get udp {server_address} {port} leave", "the client ended after 0.0"),
        ("nonsense", "the client failed (exit status 1), output:"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_a_finding_with_last_words(carried, client, finding):
    program = SENDER | {"client": "{folder}/sender.py " + client, "ccas": ["udp"]}
    document = carried(
        {"name": "x", "program": "p:udp", "stop_s": 2}, programs={"p": program}, failing=["programs"], duration_s=2
    )
    assert findings(document).startswith(f"p:udp (flow 0 of group x): {finding}")
    (check,) = (check for check in document["verdict"]["checks"] if check["name"] == "programs")
    assert check["cause"] == "sender" and findings(document).isprintable()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "finding"),
    [
        ("sleep 1000", "the server did not open UDP port 14001 within 60 s, no output"),
        ("sh -c 'echo no; exit 4'", "the server ended before it was ready (exit status 4), output: no"),
        ("/missing {seconds}", "the server could not be started, output: /missing: No such file or directory"),
        ("{folder}/sender.py serve udp {server_address} {port} {seconds} '' early", "the server ended before it was ready (exit status 3), output: listening"),
    ],
)  # fmt: skip
def test_a_server_that_does_not_serve_is_a_finding(carried, server, finding):
    program = SENDER | {"server": server + " {seconds}" * ("seconds" not in server), "ccas": ["udp"]}
    document = carried(
        {"name": "x", "program": "p:udp", "stop_s": 2}, programs={"p": program}, failing=["programs"], duration_s=2
    )
    assert finding in findings(document)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "client", "ip_version", "finding"),
    [
        ("serve udp", "kilobytes", "ipv4", "reported 1999 bytes, but 1999203 arrived; allowed: the number of all received bytes"),
        ("serve tcp", "well", "ipv4", "sent 0 packets with UDP data, its declared protocol, and"),
        ("serve udp", "well", "ipv4", "packets that were fragmented; allowed: packets of up to 1514 bytes with all headers"),
        ("serve udp", "well", "ipv6", "packets that were fragmented; allowed: packets of up to 1514 bytes with all headers"),
    ],
)  # fmt: skip
def test_data_that_are_not_what_was_declared_are_a_finding(carried, server, client, ip_version, finding):
    how = "large" if "fragmented" in finding else "well"
    of_tcp = {"client": f"{{folder}}/sender.py get tcp {{server_address}} {{port}} {client}"} if "tcp" in server else {}
    program = (
        SENDER
        | {
            "server": f"{{folder}}/sender.py {server} {{server_address}} {{port}} {{seconds}} '' {how}",
            "client": f"{{folder}}/sender.py get udp {{server_address}} {{port}} {client}",
            "ready_line": "listening",
        }
        | of_tcp
    )
    document = carried(
        {"name": "x", "program": "p", "stop_s": 2},
        programs={"p": program},
        failing=["program_data"],
        duration_s=2,
        ip_version=ip_version,
    )
    (check,) = (check for check in document["verdict"]["checks"] if check["name"] == "program_data")
    assert finding in check["observed"] and check["cause"] == "sender"


def test_a_program_may_print_much_after_its_report(carried):
    program = SENDER | {"client": "{folder}/sender.py get udp {server_address} {port} verbose", "ccas": ["udp"]}
    document = carried({"name": "x", "program": "p:udp", "stop_s": 2}, programs={"p": program}, duration_s=2)
    assert document["programs"][0]["client"]["reported"] > 1_900_000


def test_the_first_run_on_a_machine_may_be_one_of_a_program(made, testbed, tmp_path, monkeypatch):
    """Its kernel can write only into its job's folder, and no earlier run has created the folder for the kernel's files."""
    (empty := tmp_path / "empty").mkdir()
    monkeypatch.setenv("APPTAINER_BIND", f"{empty}:/tmp")
    asked = made({"name": "x", "program": "udp:udp", "stop_s": 2}, duration_s=2)
    done = testbed(asked, tmp_path / "run.json.gz", "--programs", str(tmp_path / "programs"))
    assert done.returncode == 0, done.stderr[-3000:]
    document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
    assert document["verdict"]["valid"], document.get("failure")


def test_a_program_reaches_nothing_else(carried):
    """An intruder looks for files of the machine, of the run and of other programs, and tries to write, to gain privileges and to break
    out."""
    document = carried(
        {"name": "x", "program": "intruder:udp", "stop_s": 2},
        programs={"intruder": SENDER | {"path": str(place("intruder.py")), "client": "{folder}/intruder.py get {cca} {server_address} {port}", "server": "{folder}/intruder.py serve {cca} {server_address} {port} {seconds}", "ccas": ["udp"]}},
        duration_s=2,
        failing=["programs"],
    )  # fmt: skip
    assert findings(document).endswith("output: reached: nothing")


def test_a_program_reads_the_clock_without_the_kernel_and_cannot_move_it(carried):
    """A reading costs the same either way; what a process writes into the page of the clock passes no event, and no other process sees it."""
    command = "{{folder}}/clock_reader.py {} {{server_address}} {{port}} {{seconds}}"
    sides = {"server": command.format("serve"), "client": command.format("get")}
    reader = {"path": str(place("clock_reader.py")), "protocol": "udp", "reports_bytes": "bytes", **sides}
    group = {"name": "x", "program": "reader", "stop_s": 2}
    document = carried(group, programs={"reader": reader}, duration_s=2, failing=["programs"])
    printed = document["programs"][0]["client"]["last"].partition(" | ")[0]
    read = json.loads(printed)
    assert read["steps"] == [256, 256, 256] and read["found"] == 0 and read["misled"] == 10**9
    # The guest's tick is the next event at the latest.
    assert all(256 <= moved < 1_000_000 for moved in read["moved"])


def test_a_program_reads_virtual_time_from_the_processors_counter(carried):
    """Cryptographic libraries draw random numbers from the counter; they give up if its steps are all alike."""
    command = "{{folder}}/counter_reader.py {} {{server_address}} {{port}} {{seconds}}"
    sides = {"server": command.format("serve"), "client": command.format("get")}
    reader = {"path": str(place("counter_reader.py")), "protocol": "udp", "reports_bytes": "bytes", **sides}
    group = {"name": "x", "program": "reader", "stop_s": 2}
    printed = [
        carried(group, programs={"reader": reader}, duration_s=2, failing=["programs"], name=name)["programs"][0][
            "client"
        ]["last"]
        for name in ("first", "again")
    ]
    assert printed[0] == printed[1]
    read = json.loads(printed[0].partition(" | ")[0])
    # The clock is read after the counter, which takes 256 ns; a reading of the counter doesn't move the clock.
    assert all(-256 <= ahead < -128 for ahead in read["ahead"])
    assert all(1 <= step <= 128 for step in read["steps"]) and len(set(read["steps"])) > 10
    assert read["masked"] == "~0x4000000000000000:~0x40000"


def test_a_client_that_the_path_cuts_off_is_no_finding(under_test):
    """It can't know that its flow has ended, so the run ends it, and its data are known from its packets."""
    link = {"rate_mbps": 10, "delay_ms": 20, "timeline": [{"at_s": 1, "loss_percent": 100}]}
    document = under_test("udp", link=link, traffic={"duration_s": 3})
    (entry,), (packets,) = document["programs"], document["program_packets"]["flows"]
    assert (entry["client"]["ended_by"], entry["client"]["reported"]) == ("at its limit", None)
    assert document["verdict"]["valid"], findings(document)
    assert (
        rows_of_run(with_program_deliveries(document), "a", "0" * 64)[1][0]["bytes_received"]
        == packets["bytes_arrived"]
        > 0
    )
