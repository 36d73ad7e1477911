"""Nonsensical or hostile studies: each is refused in one sentence, with little memory and time."""

import time
import tracemalloc

import pytest

from publishing.result_checks.compressed_json import TEXT_LIMIT
from study_files import study, study_consistency

START = "study: x\nccas: [reno]\nscenarios:\n  - id: s\n"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


def refusal(path, text=None, overrides=None):
    """Return the message that refuses a study file, or a shipped one with overrides; reading it is bounded."""
    if text is not None:
        path.write_text(text)
    tracemalloc.start()
    began = time.process_time()  # not the time of who else has the core
    try:
        with pytest.raises(study.StudyError) as caught:
            study.resolve(study.load(path, overrides), path)
        assert tracemalloc.get_traced_memory()[1] < 200e6
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 20
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    "text, message",
    [
        ("ccas: !!bool x\n", "is not valid YAML in line 1: 'x' is not a valid bool."),
        ("seed: !!int ''\n", "is not valid YAML in line 1: '' is not a valid int."),
        ("title: !!timestamp x\n", "is not valid YAML in line 1: 'x' is not a valid timestamp."),
        ("seed: !!float x\n", "is not valid YAML in line 1: 'x' is not a valid float."),
        (
            "seed: 0\ndefaults: {link: {rate_mbps: 010}}\n",
            "is not valid YAML in line 2: '010' would be read as 8 (octal); allowed: a decimal number without a leading 0, or a text in quotes.",
        ),
        (
            "seed: 1:30\n",
            "is not valid YAML in line 1: '1:30' would be read as 90 (base 60); allowed: a decimal number without a colon, or a text in quotes.",
        ),
        (
            "seed: 1:30.5\n",
            "is not valid YAML in line 1: '1:30.5' would be read as 90.5 (base 60); allowed: a decimal number without a colon, or a text in quotes.",
        ),
        ("ccas: &a [*a]\n", "is not valid YAML in line 1: the alias '*a' is inside the value that it stands for."),
        ("ccas: " + "[" * 500 + "]" * 500, "is not valid YAML in line 1: lists and mappings are nested more than 30 deep."),
        ("ccas: " + "[" * 400_000, "is not valid YAML in line 1: lists and mappings are nested more than 30 deep."),
        (BOMB, "is not valid YAML in line 6: it has more than 200,000 values with aliases expanded."),
        ("# " + "x" * 2**20, "can't be read (it has 1,048,578 bytes; allowed: 1,048,576); a study is a YAML file."),
    ],
    ids=("bool", "int", "timestamp", "float", "octal", "base60", "base60-float", "recursive", "deep", "deeper", "bomb", "large"),
)  # fmt: skip
def test_what_yaml_can_be_made_to_do(tmp_path, text, message):
    assert refusal(tmp_path / "study.yaml", text) == message


@pytest.mark.parametrize(
    "text, message",
    [
        ('study: x\nccas: [reno]\nscenarios:\n  1: {x: "\\a"}\n', "scenarios[1].x has the control character U+0007;"),
        (f'{START}    link: {{timeline: {{file: "a\\0b"}}}}\n', "can't be read (no file has such a name)."),
        (
            f"{START}    traffic: {{duration_s: 1.0e+308}}\n    link: {{timeline: {{pattern: satellite, period_s: 0.01, down_s: 0}}}}\n",
            "makes more than 2,000 changes in 1e+308 s;",
        ),
    ],
    ids=("number as key", "null byte", "endless pattern"),
)
def test_what_stopped_with_a_traceback(tmp_path, text, message):
    assert message in refusal(tmp_path / "study.yaml", text)


def test_a_number_of_5000_digits(tmp_path):
    message = refusal(tmp_path / "study.yaml", f"seed: {'9' * 5000}\n")
    assert "is not a valid int." in message and len(message) < 200


def test_a_text_of_3000_digits_where_a_number_belongs(tmp_path):
    """Recognising a number with its unit once took time with the third power of the text's length."""
    assert "allowed: a whole number" in refusal(tmp_path / "study.yaml", f"{START}seed: '{'9' * 3000} Mbit / s'\n")


@pytest.mark.parametrize("character", "\x1b\x07\x85\x9b\u202e\ufffe\x00")
@pytest.mark.parametrize("where", ["title", "scenarios[s].label"])
def test_control_characters_are_refused(tmp_path, where, character):
    """They would break every figure after the runs, or act on the terminal that shows the message."""
    key = where.rpartition(".")[2]
    line = f'{"    " if key == "label" else ""}{key}: "a\\u{ord(character):04x}b"'
    message = refusal(tmp_path / "study.yaml", f"{START}{line}\n")
    assert (
        message
        == f"{where} has the control character U+{ord(character):04X}; allowed: text without control characters."
    )
    assert message.isprintable()


def test_other_alphabets_and_lines_are_texts(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(f'{START}    label: "Ü 慢 ➔ 🐢"\ndescription: |\n  Two\n  lines\n', encoding="utf-8")
    study.resolve(study.load(path), path)


def test_a_key_of_a_million_characters_makes_a_short_message(tmp_path):
    assert len(refusal(tmp_path / "study.yaml", f"? {'k' * 10**6}\n: 1\n")) < 1000


def test_of_thousands_of_problems_the_first_five_are_said(tmp_path):
    text = START + "".join(f"key{number}: 1\n" for number in range(2000))
    lines = refusal(tmp_path / "study.yaml", text).splitlines()
    assert len(lines) == 6
    assert lines[-1].endswith("and 1995 more problems.")


def test_escapes_for_a_terminal_are_shown_and_not_printed(tmp_path):
    assert refusal(tmp_path / "study.yaml", f'{START}"\\x1b[2J": 1\n').isprintable()


@pytest.mark.parametrize(
    "overrides, message",
    [
        ({"study": "a" * 64}, f"study has the name {'a' * 64}; allowed: a name that doesn't end in 20 or more repetitions of 'a'."),
        ({"scenarios": [{"id": "x" + "ab" * 20}]}, "doesn't end in 20 or more repetitions of 'ab'."),
        ({"scenarios": [{"id": "x", "flows": 64}], "ccas": ["+".join(["lp"] * 20)]}, None),
        ({"scenarios": [{"id": "x", "flows": 64}], "ccas": ["lp+" * 20 + "lp+lp"]}, "doesn't end in 20 or more repetitions of '+lp'."),
        ({"scenarios": [{"id": "x", "flows": 64}], "ccas": ["reno+" + "lp+" * 20 + "reno"]}, None),
        ({"scenarios": [{"id": "x", "flows": 30}], "ccas": ["+".join(["reno"] * 30)]},
         "ccas[0] is a mix of 149 characters; allowed: up to 100."),
        ({"study": "s" + "ab" * 15 + "c" * 15 + "d" * 15, "platform": "host"}, "-host; allowed: up to 64 characters."),
        ({"replications": 10_000}, "makes 80,000 runs"),
        ({"replications": 10_000, "ccas": ["reno", "cubic", "bbr", "vegas"]}, "makes 160,000 runs; allowed: up to 100,000"),
        ({"scenarios": [{"id": f"s{n}"} for n in range(5_000)]}, "scenarios has 5,000 entries; allowed: up to 1,000."),
        ({"defaults": {"link": {"loss_percent": 99.9999}}}, "allowed: values with which at least half of the connections are established"),
        ({"defaults": {"link": {"loss_percent": {"forward": 91, "reverse": 0}}}}, "with which 48 % of all connections are established"),
        ({"defaults": {"link": {"loss_percent": {"forward": 90, "reverse": 0}}}}, None),
        ({"scenarios": [{"id": "x", "topology": "cable", "multipath": {"by": "mptcp", "paths": 2, "path_delay_ms": [0, 500]},
                         "traffic": {"duration_s": 5}}]}, "allowed: at least 10 RTTs of traffic"),
        ({"defaults": {"traffic": {"messages": 100_000_000}}}, "s of traffic; allowed: up to 3,600 s"),
        ({"defaults": {"traffic": {"duration_s": 3600, "interval_s": 0.1}, "flows": 4}}, "makes 144,000 intervals over all flows; allowed: up to 50,000."),
        ({"defaults": {"traffic": {"duration_s": 3600, "interval_s": 0.1}}, "scenarios": [{"id": "x"}]}, None),
        ({"defaults": {"traffic": {"duration_s": 251, "sample_interval_ms": 1}}, "scenarios": [{"id": "x"}]},
         "makes 251,000 readings of sockets in a run; allowed: up to 250,000, with at least 2 (ms)."),
        ({"defaults": {"traffic": {"duration_s": 250, "sample_interval_ms": 1}}, "scenarios": [{"id": "x"}]}, None),
        ({"mixes": "ordered-pairs", "ccas": ["reno", "cubic"]}, "flows is 1; allowed: at least 2, one for each CCA in"),
    ],
)  # fmt: skip
def test_what_could_only_fail_later(root, overrides, message):
    """The shipped smoke study with one change each."""
    path = root / "config/studies/smoke.yaml"
    if message is None or "80,000" in message:
        study.resolve(study.load(path, overrides), path)
    else:
        assert message in refusal(path, overrides=overrides)


def test_a_study_at_its_limits_has_documents_that_a_verification_reads():
    """A reading and an interval of iperf3 have as many bytes of text as in the largest documents measured; the rest takes less than 1
    MB."""
    assert 165 * study_consistency.SAMPLES_LIMIT + 400 * study_consistency.INTERVALS_LIMIT + 1e6 < TEXT_LIMIT


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", " "])
def test_a_label_is_no_formula(tmp_path, sign):
    message = refusal(tmp_path / "study.yaml", f'{START}    label: "{sign}=1"\n')
    assert "allowed: text of one line that doesn't begin with = + - or @" in message


def test_numbers_in_mappings_of_a_call_are_numbers(root):
    """Snakemake passes the 5001 of `--config 'defaults={"flows": 5001}'` on as text, but not that of `--config seed=2`."""
    path = root / "config/studies/smoke.yaml"
    given = {"defaults": {"flows": "4", "link": {"rate_mbps": "2.5", "loss_percent": {"forward": "1", "reverse": "0"}}}}
    written = {"defaults": {"flows": 4, "link": {"rate_mbps": 2.5, "loss_percent": {"forward": 1, "reverse": 0}}}}
    assert study.resolve(study.load(path, given), path) == study.resolve(study.load(path, written), path)
    named = study.load(path, {"scenarios": [{"id": "7", "label": "007", "flows": "2"}], "analysis": {"claims": "null"}})
    assert named["scenarios"] == [{"id": "7", "label": "007", "flows": 2}]
    assert named["analysis"]["claims"] is None
    assert "flows is 5001;" in refusal(path, overrides={"defaults": {"flows": "5001"}})


def test_of_60000_received_scenarios_none_is_looked_at():
    config = {"study": "x", "ccas": ["reno"], "scenarios": [{"id": f"s{number}"} for number in range(60_000)]}
    began = time.process_time()  # not the time of who else has the core
    with pytest.raises(study.StudyError, match="scenarios has 60,000 entries; allowed: up to 1,000."):
        study.resolve(config, "received")
    assert time.process_time() - began < 5
