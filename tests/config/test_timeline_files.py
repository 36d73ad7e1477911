"""A link's timeline from a table: the changes that a row becomes, and the tables that are refused."""

import json
import subprocess
from pathlib import Path

import pytest

from study_files import study as studies
from study_files.study import StudyError
from study_files.study_traces import completed_trace
from study_files.timeline_files import rows_of

TABLE = """time_s, rate_mbps, delay_ms, loss_percent
0, 20, 20, 0

2.5, , , 30
2.55, 5, 40, 0
12, 1, 1, 1
"""


def resolved(folder, text, timeline=None, scenario=None, defaults=None):
    (folder / "path.csv").write_bytes(text.encode() if isinstance(text, str) else text)
    one = {"id": "a"} | ({"link": {"timeline": timeline or {"file": "path.csv"}}} if scenario is None else scenario)
    study = {
        "study": "s",
        "ccas": ["reno"],
        "scenarios": [one],
        "defaults": defaults or {"traffic": {"duration_s": 10}},
    }
    return studies.resolve(study, str(folder / "s.yaml"))["scenarios"][0]["link"]["timeline"]


def changes(timeline):
    return [
        tuple(entry[key] for key in ("at_s", "direction", "rate_mbps", "delay_ms", "loss_percent"))
        for entry in timeline
    ]


def test_a_row_is_a_change_of_what_it_names_until_traffic_ends(tmp_path):
    expected = [(0, "both", 20, 20, 0), (2.5, "both", None, None, 30), (2.55, "both", 5, 40, 0)]
    assert changes(resolved(tmp_path, TABLE)) == expected
    one_way = resolved(tmp_path, TABLE, {"file": "path.csv", "direction": "reverse"})
    assert {entry["direction"] for entry in one_way} == {"reverse"}


def test_a_row_may_say_its_direction(tmp_path):
    text = "time_s,delay_ms,direction\n1,30,forward\n1,50,reverse\n"
    assert changes(resolved(tmp_path, text)) == [(1, "forward", None, 30, None), (1, "reverse", None, 50, None)]


def test_the_defaults_table_is_every_scenarios_but_of_those_with_another(tmp_path):
    defaults = {"traffic": {"duration_s": 10}, "link": {"timeline": {"file": "path.csv"}}}
    assert len(resolved(tmp_path, TABLE, scenario={}, defaults=defaults)) == 3
    assert resolved(tmp_path, TABLE, scenario={"link": {"timeline": []}}, defaults=defaults) == []


@pytest.mark.parametrize(
    "text, sentence",
    [
        (
            "",
            "is empty; allowed: a table with the columns time_s, then at least one of rate_mbps, delay_ms, loss_percent, direction.",
        ),
        ("time_s,rate_mbps\n\n\n1,x\n", "has rate_mbps 'x' in line 4"),
        ("time_s,rate_mbps\n\n1\n", "has 1 values in line 3; allowed: 2"),
        ("time_s,loss_percent\n\n1,101\n", "has loss_percent 101 in line 3; allowed: a number from 0 to 100 (percent)"),
        ("time_s,rate_mbps\n1,20001\n", "has rate_mbps 20001 in line 2; allowed: a number from 0.01 to 20000 (Mbit/s)"),
        (
            "time_s,rate_mbps\n1," + "1" * 140_000,
            "can't be read: field larger than field limit (131072) in line 2; allowed: a table with commas.",
        ),
        (
            "time_s,rate_mbps\n" + "".join(f"{n / 1000},5\n" for n in range(2001)),
            "has 2,001 rows before 10 s; allowed: up to 2,000.",
        ),
        ("time_s\n1\n", "begins with 'time_s'; allowed: time_s, then"),
        ("rate_mbps,time_s\n1,2\n", "begins with 'rate_mbps,time_s'; allowed"),
        ("time_s,rate_mbps,jitter_ms\n1,2,3\n", "begins with 'time_s,rate_mbps,jitter_ms'; allowed"),
        ("time_s,rate_mbps\n1\n", "has 1 values in line 2; allowed: 2, as in the header."),
        ("time_s,rate_mbps\nx,1\n", "has time_s 'x' in line 2; allowed: a number of at least 0."),
        ("time_s,rate_mbps\n1,-1\n", "has rate_mbps '-1' in line 2"),
        ("time_s,rate_mbps\n1,nan\n", "has rate_mbps 'nan' in line 2"),
        (
            "time_s,rate_mbps,direction\n1,1,up\n",
            "has direction 'up' in line 2; allowed: one of both, forward, reverse.",
        ),
        ("time_s,rate_mbps\n10,1\n", "has no row before 10 s, the end of the traffic."),
        (b"time_s,rate_mbps\n1,\xff\n", "can't be read: byte 20 is not text"),
    ],
)
def test_what_no_table_is_is_said_in_a_sentence(tmp_path, text, sentence):
    with pytest.raises(StudyError) as raised:
        resolved(tmp_path, text)
    said = str(raised.value)
    assert "scenarios[a].link.timeline.file" in said and sentence.replace("'", "") in said.replace("'", "").replace(
        '"', ""
    )


def test_a_table_that_is_not_there_or_lies_elsewhere_is_refused(tmp_path):
    for name, sentence in (("none.csv", "can't be read (No such file"), ("../path.csv", "lies elsewhere")):
        with pytest.raises(StudyError, match="link.timeline.file") as raised:
            resolved(tmp_path, TABLE, {"file": name})
        assert sentence in str(raised.value)
    with pytest.raises(StudyError, match="has the key repeat in addition"):
        resolved(tmp_path, TABLE, {"file": "path.csv", "repeat": True})


def test_rows_after_the_end_and_a_byte_order_mark_do_not_matter(tmp_path):
    made = changes(resolved(tmp_path, "\ufefftime_s,rate_mbps\n1,20000\n5000,99999\n"))
    assert made == [(1, "both", 20_000, None, None)]


def test_the_pages_line_makes_a_timeline_of_delays_each_ten_milliseconds(tmp_path):
    """LeoReplayer's format, one line per 10 ms. Changes of less than 2 ms are left out."""
    page = (Path(__file__).resolve().parents[2] / "docs/programs-and-paths.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("awk ")]
    (tmp_path / "delay_1.txt").write_text("24\n24\n25\n18\n18\n19\n40\n")
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)
    entries = rows_of({"file": "delay_1.csv"}, str(tmp_path / "study.yaml"), 10)
    assert [(entry["at_s"], entry["delay_ms"]) for entry in entries] == [(0, 24), (0.03, 18), (0.06, 40)]


def test_rattan_s_rates_are_read_by_the_page_s_command(tmp_path):
    """Rattan's format, two patterns of different lengths; the result is a trace for a study."""
    page = (Path(__file__).resolve().parents[2] / "docs/programs-and-paths.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith("python3 -c")]
    patterns = [
        {"TraceBwConfig": {"pattern": [["100ms", ["16Mbps", "48.500Mbps"]], ["250ms", ["8Mbps"]]]}},
        {"TraceBwConfig": {"pattern": [["50ms", ["1Mbps"]]]}},
    ]
    (tmp_path / "bw.json").write_text(json.dumps({"RepeatedBwPatternConfig": {"pattern": patterns, "count": 0}}))
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)
    assert (tmp_path / "bw.csv").read_text().split() == [
        "time_s,rate_mbps",
        "0.000000,16",
        "0.100000,48.500",
        "0.200000,8",
        "0.450000,1",
    ]
    trace = {
        "file": "bw.csv",
        "format": "csv",
        "sha256": None,
        "direction": "forward",
        "step_ms": 50,
        "period_ms": None,
        "rates_mbps": None,
    }
    assert completed_trace(trace, str(tmp_path / "study.yaml"))["rates_mbps"] == [
        16,
        16,
        48.5,
        48.5,
        8,
        8,
        8,
        8,
        8,
        1,
        1,
        1,
        1,
        1,
    ]
