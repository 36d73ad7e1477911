"""Results of the kernel's own tests: files and lines."""

import csv
import json

from kernel_tests.results import entry_of, lines_of, summary, write_results

FAILING = {"status": 1, "seconds": 0.2, "output": "outbound sniffed packet\n\x1b[2Ja.pkt:3: error\n", "warnings": []}
PASSING = FAILING | {"status": 0}


def entries():
    commands = [["a.pkt", f"--ip_version={version}"] for version in ("ipv4", "ipv6")]
    made = [entry_of(command, one, "", set()) for command, one in zip(commands, (PASSING, FAILING), strict=True)]
    return [*made, entry_of(["b.pkt", "--ip_version=ipv4"], PASSING, "", set())]


def test_files(tmp_path):
    folder = tmp_path / "7.2"
    (folder / "outputs").mkdir(parents=True)
    (folder / "outputs/old.txt").touch()
    write_results(folder, {"seed": 1}, entries(), ["one", "two", "three"])
    document = json.loads((folder / "selftests.json").read_text())
    assert document["counts"] == {"passed": 2, "failed": 1, "not fit": 0}
    assert "last_lines" not in document["tests"][0]
    assert document["tests"][1]["last_lines"][0] == "outbound sniffed packet"
    rows = list(csv.DictReader((folder / "selftests.csv").open(newline="")))
    assert [(row["script"], row["ip_version"], row["result"]) for row in rows][1] == ("a.pkt", "ipv6", "failed")
    assert {file.name: file.read_text() for file in (folder / "outputs").iterdir()} == {"a.pkt.ipv6.txt": "two"}


def test_lines_show_the_failure_and_obey_no_terminal_code():
    lines = lines_of(entries())
    assert any(line.split() == ["ipv6", "0", "1", "0"] for line in lines)
    assert any(line.split() == ["b.pkt", "passed", "-"] for line in lines)
    assert [line for line in lines if line.startswith("FAILED a.pkt over ipv6")]
    assert "    outbound sniffed packet" in lines
    assert "\x1b" not in "".join(lines)
    assert summary(entries(), 2.4) == "2 scripts, 3 tests in 2 s: 2 passed, 1 failed, 0 not fit"
