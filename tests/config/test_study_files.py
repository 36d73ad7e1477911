"""Reading study files: strict YAML, and values that override the file's."""

import pytest

from study_files import study

STUDY_KEYS = "study, title, description, seed, replications, controls, ccas, cca_definitions, kernels, programs, mixes, ip_versions, platform, defaults, scenarios, exam, steady_state, analysis"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", f"is empty; a study has the keys {STUDY_KEYS}."),
        ("# nothing\n", f"is empty; a study has the keys {STUDY_KEYS}."),
        ("- reno\n", f'is ["reno"]; allowed: a mapping with the keys {STUDY_KEYS}.'),
        ("just text\n", f'is "just text"; allowed: a mapping with the keys {STUDY_KEYS}.'),
        ("study: a\nseed: 1\nstudy: b\n", "is not valid YAML in line 3: the key 'study' occurs twice."),
        (
            "scenarios:\n  - id: a\n    flows: 1\n    flows: 2\n",
            "is not valid YAML in line 4: the key 'flows' occurs twice.",
        ),
        ("study: [a\nseed: 1\n", "is not valid YAML in line 2: did not find expected ',' or ']'."),
        ("study: a\n\tseed: 1\n", "is not valid YAML in line 2: found a tab character that violates indentation."),
        ("study: a\x00\n", "is not valid YAML: control characters are not allowed."),
        (
            "study: !!python/object:os.system x\n",
            "is not valid YAML in line 1: could not determine a constructor for the tag "
            "'tag:yaml.org,2002:python/object:os.system'.",
        ),
        ("study: 2024-13-45\n", "is not valid YAML in line 1: '2024-13-45' is not a valid timestamp."),
        (b"\xff\xfe\x00", "can't be read (line 1 has the byte 0xff; allowed: UTF-8 text); a study is a YAML file."),
        (None, "can't be read (No such file or directory); a study is a YAML file."),
    ],
)
def test_unreadable_files_are_named(tmp_path, content, message):
    path = tmp_path / "study.yaml"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(study.StudyError) as caught:
        study.load(path)
    assert str(caught.value) == f"{path}: {message}"


OVERRIDDEN = """
study: small
replications: 6
ccas: [reno]
defaults:
  link: {rate_mbps: 100, delay_ms: {forward: 10, reverse: 0}}
  queue: {bdp: 1}
scenarios:
  - id: near
"""


def test_overrides_replace_values_and_merge_sections(tmp_path):
    (path := tmp_path / "small.yaml").write_text(OVERRIDDEN)
    overrides = {"replications": 1, "defaults": {"link": {"delay_ms": 5}, "queue": {"packets": 9}}}
    config = study.load(path, overrides)
    assert config["replications"] == 1
    assert config["defaults"] == {"link": {"rate_mbps": 100, "delay_ms": 5}, "queue": {"packets": 9}}
    assert config["ccas"] == ["reno"]


def test_a_misspelt_override_is_refused(tmp_path):
    (path := tmp_path / "small.yaml").write_text(OVERRIDDEN)
    with pytest.raises(study.StudyError, match="unknown key 'replication'; did you mean 'replications'"):
        study.resolve(study.load(path, {"replication": 1}), str(path))
