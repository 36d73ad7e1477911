"""Delay tables from files, and the distance between delays and their table on draws with known truth."""

import math
import random
import statistics

import pytest

from experiment.delay_tables import LARGEST, MOST_NUMBERS, SCALE, distance, most_distance, numbers_of, reach
from study_files.delay_tables import completed_table
from study_files.study import StudyError, resolve
from study_files.study_traces import TraceError

EMPTY = {"file": None, "sha256": None, "numbers": None}


def table_of(tmp_path, text, name="delays.txt"):
    (tmp_path / name).write_text(text)
    return completed_table(EMPTY | {"file": name}, str(tmp_path / "study.yaml"))


def test_measured_delays_have_mean_zero_and_one_jitter_as_deviation(tmp_path):
    draw = random.Random(3)
    delays = [draw.gammavariate(9, 2) for _ in range(20_000)]
    numbers = table_of(tmp_path, "# ms\n" + "\n".join(f"{one:.4f}" for one in delays))["numbers"]
    assert len(numbers) == MOST_NUMBERS and numbers == sorted(numbers)
    assert statistics.mean(numbers) / SCALE == pytest.approx(0, abs=0.01)
    assert statistics.pstdev(numbers) / SCALE == pytest.approx(1, abs=0.02)


def test_netem_s_own_tables_are_taken_as_they_are(tmp_path):
    """Several numbers per line and a comment, as in iproute2's files."""
    table = table_of(tmp_path, "# my.dist\n -8192 0 100\n 8192\n", "my.dist")
    assert table["numbers"] == [-8192, 0, 100, 8192] and len(table["sha256"]) == 64
    assert reach(table["numbers"]) == (1, 1)


def test_an_outlier_is_put_at_four_deviations():
    numbers = numbers_of([10.0] * 999 + [1000.0])
    assert numbers[-1] == LARGEST and numbers[0] == numbers[-2]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.txt", "", "has 0 numbers; allowed: 2 to 5,000,000."),
        ("a.txt", "5\n5\n5\n", "has only one delay, 5; allowed: at least two different delays."),
        ("a.txt", "5\nfast\n", "has fast in line 2; allowed: numbers, one delay per line."),
        ("a.txt", "5\nnan\n", "has nan in line 2; allowed: numbers, one delay per line."),
        ("a.dist", "5\n40000\n", "is not a table of netem; allowed: up to 4,096 whole numbers from -32,767 to 32,767."),
        ("a.dist", "5\n1.5\n", "is not a table of netem;"),
    ],
)
def test_a_file_that_is_no_table_gets_a_sentence(tmp_path, name, text, sentence):
    with pytest.raises(TraceError) as raised:
        table_of(tmp_path, text, name)
    assert sentence in str(raised.value)


def test_a_table_s_other_keys_fit_its_file(tmp_path):
    (tmp_path / "a.txt").write_text("\ufeff1\n2\n")
    named, source = EMPTY | {"file": "a.txt"}, str(tmp_path / "study.yaml")
    made = completed_table(named, source)
    assert completed_table(named | {"sha256": made["sha256"]}, source) == completed_table(made, source) == made
    with pytest.raises(TraceError, match="has the SHA-256 .*; allowed: the given sha256, 0000"):
        completed_table(named | {"sha256": "0" * 64}, source)
    with pytest.raises(TraceError, match="has both file and numbers; allowed without a sha256: one of them."):
        completed_table(named | {"numbers": [1, 2]}, source)


def test_a_study_names_its_file_beside_it(tmp_path):
    study = {
        "study": "x",
        "ccas": ["cubic"],
        "scenarios": [{"id": "a", "link": {"jitter_ms": 2, "jitter_table": {"file": "a.txt"}}}],
    }
    with pytest.raises(StudyError, match=r"scenarios\[a\].link.jitter_table.file a.txt can't be read"):
        resolve(study, str(tmp_path / "study.yaml"))
    (tmp_path / "a.txt").write_text("1\n2\n")
    table = resolve(study, str(tmp_path / "study.yaml"))["scenarios"][0]["link"]["jitter_table"]
    assert table["numbers"] == [-SCALE, SCALE]
    study["scenarios"][0]["link"].pop("jitter_ms")
    with pytest.raises(StudyError, match=r"link.jitter_table is given; allowed without a link.jitter_ms: null."):
        resolve(study, str(tmp_path / "study.yaml"))


TABLES = {
    "heaps": [-8000] * 5 + [8000] * 5,
    "skewed": numbers_of([-math.log(1 - (place + 0.5) / 500) for place in range(500)]),
    "even": list(range(-14_000, 14_001, 1000)),
}


@pytest.mark.parametrize("name", TABLES)
def test_delays_drawn_from_a_table_are_near_it_and_those_of_others_are_not(name):
    """500 delays, as many as the probe has: no draw of 200 is rejected, and every other table is recognised as different."""
    draw, count = random.Random(11), 500
    for _ in range(200):
        delays = [20 + 4 * draw.choice(TABLES[name]) / SCALE for _ in range(count)]
        assert distance(delays, TABLES[name], 20, 4, 1e-6) < most_distance(count)
    for other in TABLES.keys() - {name}:
        assert distance(delays, TABLES[other], 20, 4, 1e-6) > most_distance(count)
    # Half and double the jitter, and no jitter.
    for jitter in (2, 8, 0):
        assert distance(delays, TABLES[name], 20, jitter, 1e-6) > most_distance(count)


def test_small_delays_are_delays_and_a_table_without_two_numbers_is_none(tmp_path):
    assert table_of(tmp_path, "1e-200\n2e-200\n")["numbers"] == [-SCALE, SCALE]
    with pytest.raises(TraceError, match="has only one number, 5; allowed: at least two different numbers."):
        completed_table(EMPTY | {"numbers": [5, 5]}, "x.yaml")


def test_no_delay_of_a_table_is_below_zero(tmp_path):
    link = {"delay_ms": 5, "jitter_ms": 4, "jitter_table": {"numbers": [-16384, 16384]}}
    study = {"study": "x", "ccas": ["cubic"], "scenarios": [{"id": "a", "link": link}]}
    with pytest.raises(
        StudyError,
        match=r"link.jitter_table goes 8 ms below link.delay_ms.forward, 5; allowed: a delay of at least 8 ms.",
    ):
        resolve(study, str(tmp_path / "study.yaml"))
    link["delay_ms"] = 8
    assert resolve(study, str(tmp_path / "study.yaml"))
