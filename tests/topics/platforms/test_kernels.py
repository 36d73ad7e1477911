"""The guest kernel and the machine's own: differences between their documents, and how the page shows them."""

from types import SimpleNamespace

import pandas as pd
import pytest

from session.host_needs import needs
from study_files import study as studies
from tidy_tables import buffers, buffers_study
from topics.platforms.kernel_environments import environment_differences
from topics.platforms.section import findings
from wording.scenario_series import main_pairs, platforms_of

GUEST = {"platform": "uml", "kernel": "7.2.13", "tick_hz": 1000, "image_digest": "sha256:1", "runs": 48}
HOST = {"platform": "host", "kernel": "6.18.44", "tick_hz": 250, "image_digest": "sha256:1", "cpu_cores": 2, "runs": 40}


def shipped(root, name):
    """Return a shipped study, resolved."""
    path = root / f"config/studies/{name}.yaml"
    return studies.resolve(studies.load(path), str(path))


def test_pairs_that_are_shown():
    order = platforms_of(pd.DataFrame({"platform": ["ns3:3.44", "host", "ns3:3.39", "uml"]}))
    assert order == ["uml", "host", "ns3:3.39", "ns3:3.44"]
    assert main_pairs(order)[0] == ("uml", "host")
    assert len(main_pairs(order)) == 1 + 2 * 2 + 1


def test_only_what_differs_is_listed():
    table = environment_differences([GUEST, HOST, {"platform": "ns3:3.44", "tick_hz": 7, "runs": 1}])
    assert set(zip(table["platform_a"], table["platform_b"], strict=True)) == {("uml", "host")}
    values = table.set_index("property")[["value_a", "value_b"]]
    assert values.to_dict("index") == {
        "kernel": {"value_a": "7.2.13", "value_b": "6.18.44"},
        "tick_hz": {"value_a": "1000", "value_b": "250"},
        "cpu_cores": {"value_a": "", "value_b": "2"},
    }


def test_several_environments_of_one_platform_are_all_named():
    table = environment_differences([GUEST, HOST, HOST | {"kernel": "6.19.1", "runs": 3}])
    assert table.set_index("property").loc["kernel", "value_b"] == "6.18.44; 6.19.1"


def test_one_kernel_has_nothing_to_differ_from():
    assert environment_differences([GUEST, {"platform": "ns3:3.44", "runs": 1}]).empty
    assert environment_differences([GUEST, GUEST | {"kernel": "7.3"}]).empty


def test_kernels_without_common_conditions_have_no_finding():
    """The guest's conditions ran in the simulator, too; the machine's didn't run on the guest."""
    table = pd.DataFrame(
        {"platform_a": ["uml"], "platform_b": ["ns3:3.44"], "metric": ["goodput_mbps"], "cca": ["vegas"]}
    )
    table = table.assign(verdict="agree", n_a=6, n_b=6, effect=None)
    scenarios = pd.DataFrame({"platform": ["uml", "host", "ns3:3.44"]})
    tables = SimpleNamespace(platforms=table, platform_causes=table[:0], scenarios=scenarios)
    (finding,) = findings(SimpleNamespace(tables=tables, design=SimpleNamespace(ccas=("vegas",))))
    assert finding.text.startswith(
        "Vegas: ns-3 3.44 agrees with Linux within the study's tolerance in 1 of 1 comparison"
    )


@pytest.mark.slow
def test_the_page_names_the_differences(build):
    study = buffers_study(buffers(("uml", "host"), (100, 500), 100), ccas=("cubic", "reno"))
    guest = study["provenance"]["environments"][0] | {"platform": "uml"}
    host = guest | {"platform": "host", "kernel": "6.18.44", "tick_hz": 250}
    study["provenance"]["environments"] = [guest, host]
    page = build(study).page.read_text(encoding="utf-8")
    assert "What differs between the two kernels" in page
    assert "host Linux against Linux" in page
    row = page.split("Tick in Hz")[1].split("</tr>")[0]
    assert "<td>1000</td><td>250</td>" in row
    assert "The simulator's version, or Linux?" not in page


@pytest.mark.parametrize(("name", "conditions"), [("witness", 4), ("witness-cable", 3), ("witness-queue", 3)])
def test_shipped_studies_ask_both_platforms_the_same(root, name, conditions):
    asked = {}
    for scenario in shipped(root, name)["scenarios"]:
        same = str({key: value for key, value in scenario.items() if key not in ("id", "label", "platform")})
        asked.setdefault(same, []).append(scenario["platform"])
    assert len(asked) == conditions
    assert {tuple(platforms) for platforms in asked.values()} == {("uml", "host")}


def test_what_shipped_studies_need_of_the_machine(root):
    asked = {
        name: {need.part or need.cca for need in needs(shipped(root, name))}
        for name in ("witness", "witness-cable", "witness-queue")
    }
    assert asked["witness-cable"] == {"veth", "htb", "pfifo", "cubic", "reno"}
    assert asked["witness-queue"] == asked["witness-cable"]
    assert asked["witness"] == asked["witness-cable"] | {"netem"}
