"""Adding a link option: the code that a developer writes for one, and its effects, up to a run in the guest."""

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: All edits of a developer in `workflow/`: file -> (existing text, text that is inserted before it).
WRITTEN = {
    "experiment/link_options.py": (
        ")  # fmt: skip\n#: Name of an option -> option.",
        """    LinkOption(
        "bunch_ms", number_schema("ms", 0.1, 1000, null=True), only="forward", needs=IN_ORDER,
        words="slot {0:.6f}ms {0:.6f}ms", key=("slot", "min-delay"), factor=1e3, told="slot_ms",
        idle_ms=lambda value: value,
    ),
""",
    ),
    "scripts/wording/link_option_words.py": (
        "}\n#: Option -> description of a value, for use in a table.\nOPTION_EFFECTS = {\n",
        '    "bunch_ms": "Data travel in bunches, as on a link whose sender has its turn now and then.",\n',
    ),
}
#: The other file that names an option whose packets are counted.
COUNTED_IN = {
    "testbed/checks/link_option_counts.py",
    "scripts/wording/check_words.py",
    "scripts/study_files/study_features.py",
}
SCRIPT = """
import json, sys
from documenting.study_keys import sections
from wording.link_words import link_words
from session.host_needs import needs
from study_files import study as studies

link = {"rate_mbps": 10, "delay_ms": 10, "loss_percent": 0} | json.loads(sys.argv[1])
scenario = {"id": "x", "link": link, "traffic": {"duration_s": 3}} | json.loads(sys.argv[2])
try:
    study = studies.resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")
except studies.StudyError as error:
    print(json.dumps({"refused": str(error)}))
else:
    (made,) = study["scenarios"]
    keys = next(keys for title, _, keys in sections() if title == "`link` of a scenario")
    print(json.dumps({
        "specification": studies.run_specification(study, "x", "reno", "ipv4", 1),
        "words": link_words(made["link"]),
        "documented": {key.name: (key.type, key.allowed, key.default, key.meaning) for key in keys},
        "parts": [need.part for need in needs(study | {"scenarios": [made | {"platform": "host"}]})],
    }))
"""


@pytest.fixture(scope="module")
def workflow(tmp_path_factory):
    """A copy of `workflow/` with one more option."""
    folder = tmp_path_factory.mktemp("option") / "workflow"
    shutil.copytree(ROOT / "workflow", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, (place, more) in WRITTEN.items():
        text = (folder / name).read_text()
        assert text.count(place) == 1
        text = text.replace(place, more + place)
        if name.endswith("words.py"):
            text = text.replace(place, place + '    "bunch_ms": "data in bunches of {:g} ms",\n')
        (folder / name).write_text(text)
    return folder


def ask(workflow, link, **sections):
    """Return the workflow's answers about a scenario."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(link), json.dumps(sections)],
        env={"PYTHONPATH": f"{workflow}/scripts:{workflow}", "PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_option_is_validated_documented_named_and_asked_of_a_kernel(workflow):
    made = ask(workflow, {"bunch_ms": 8})
    assert made["specification"]["scenario"]["link"]["bunch_ms"] == 8
    assert made["words"] == "data in bunches of 8 ms"
    kind, allowed, default, meaning = made["documented"]["bunch_ms"]
    assert (kind, allowed, default) == ("number, ms", "from 0.1 to 1,000, or `null`", "`null`")
    assert meaning.startswith("Data travel in bunches") and "`topology: dumbbell or cable`" in meaning
    assert "netem" in made["parts"]


def test_without_it_a_specification_is_as_it_was(workflow):
    with_it, without = (ask(folder, {})["specification"] for folder in (workflow, ROOT / "workflow"))
    assert json.dumps(with_it) == json.dumps(without)


@pytest.mark.parametrize(
    "link, sections, sentence",
    [
        ({"bunch_ms": 0}, {}, "link.bunch_ms is 0; allowed: a number from 0.1 to 1000 (ms), or null."),
        ({"bunch_mss": 1}, {}, "did you mean 'bunch_ms'?"),
        ({"bunch_ms": 1}, {"topology": "chain"}, "topology is chain; allowed with link.bunch_ms: dumbbell or cable."),
        ({"bunch_ms": 1, "netem": "both-ends"}, {}, "link.netem is both-ends; allowed with link.bunch_ms: receiving-side."),
        ({"bunch_ms": 1}, {"platform": "ns3:3.44"}, "link.bunch_ms is not null; allowed on ns3:3.44: null."),
    ],
)  # fmt: skip
def test_where_it_can_not_be_it_is_refused_by_name(workflow, link, sections, sentence):
    assert sentence in ask(workflow, link, **sections)["refused"]


def test_it_is_placed_read_back_and_checked(workflow, testbed, tmp_path):
    asked = ask(workflow, {"bunch_ms": 8})["specification"]
    assert testbed(asked, tmp_path / "run.json.gz", workflow=workflow).returncode == 0
    document = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))
    assert [check for check in document["verdict"]["checks"] if not check["ok"]] == []
    interfaces = document["network"]["read_back"]["interfaces"]
    assert interfaces["r2-eth0"]["qdiscs"]["netem"]["slot_ms"] == 8
    assert "slot_ms" not in interfaces["r1-eth0"]["qdiscs"]["netem"]


def test_what_the_kernel_lacks_of_it_makes_a_run_invalid(workflow, testbed, tmp_path):
    """tc gets half of the slot here."""
    other = tmp_path / "workflow"
    shutil.copytree(workflow, other)
    options = other / "experiment/link_options.py"
    text = options.read_text()
    options.write_text(text.replace("self.words.format(self.given(value))", "self.words.format(self.given(value) / 2)"))
    asked = ask(workflow, {"bunch_ms": 8})["specification"]
    testbed(asked, tmp_path / "run.json.gz", workflow=other)
    verdict = json.loads(gzip.decompress((tmp_path / "run.json.gz").read_bytes()))["verdict"]
    assert [(check["name"], check["observed"]) for check in verdict["checks"] if not check["ok"]] == [
        ("qdiscs", "r2-eth0: netem slot_ms 4.0 instead of 8")
    ]


def test_an_option_is_named_in_few_files():
    """`corrupt_percent`, whose packets are also counted, is named in five files including a test and the changelog; `make documentation`
    writes two more."""
    naming = {
        str(path.relative_to(ROOT / "workflow"))
        for path in (ROOT / "workflow").rglob("*")
        if path.suffix in (".py", ".yaml", ".json", ".smk", ".j2") and "__pycache__" not in path.parts
        if "corrupt" in path.read_text()
    }
    assert naming == WRITTEN.keys() | COUNTED_IN
