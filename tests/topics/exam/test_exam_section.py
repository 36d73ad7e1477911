"""The page's section on an exam, on cards of drawn values."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from jinja2 import Environment

from study_files import study as studies
from topics.exam.beside_published import beside_published
from topics.exam.criteria import MEASURES, wanted_measures
from topics.exam.scorecard import scorecard
from topics.exam.section import findings, section
from topics.exam.tables import EXAM_VALUES

QUICK = "config/studies/exam-quick.yaml"


@pytest.fixture(scope="module")
def study():
    """The shipped exam, of a CCA ``mine``."""
    resolved = studies.resolve(studies.load(QUICK), QUICK)
    return resolved | {"exam": resolved["exam"] | {"cca": "mine"}, "ccas": ["reno", "cubic", "mine"]}


def material(study, harm, fall=0.0, crashed=0, seed=1):
    """Return the section's material: normal values, of a CCA that is worse by the given margins and collapses in a share of its runs."""
    rng, rows, runs = np.random.default_rng(seed), [], []
    for scenario, cca, ip_version, replication in studies.runs(study):
        lost = cca == "mine" and replication <= crashed
        runs.append(
            (
                scenario,
                cca,
                ip_version,
                replication,
                not lost,
                "crash" if lost else "",
                "panic" if lost else "",
                rng.integers(1e6),
                20 + rng.normal(),
                40 + rng.normal(),
                1e5 + rng.normal(),
                12.0,
            )
        )
        fell = cca == "mine" and rng.random() < fall
        for name in sorted(wanted_measures(scenario)) if not lost else ():
            measure = MEASURES[name]
            margin = study["exam"]["margins"].get(measure.margin, 0.1)
            sign = -1 if measure.better == "higher" else 1
            value = 20 * margin + margin * (0.3 * rng.normal() + sign * ((harm if cca == "mine" else 0) + 9 * fell))
            rows.append((scenario, cca, ip_version, replication, name, "", value))
    columns = [
        "scenario",
        "cca",
        "ip_version",
        "replication",
        "valid",
        "excluded_by",
        "invalid_because",
        "seed",
        "rate_mbps",
        "rtt_path_ms",
        "queue_bytes",
        "duration_s",
    ]
    runs, values = pd.DataFrame(runs, columns=columns), pd.DataFrame(rows, columns=EXAM_VALUES.names)
    labels = {scenario["id"]: scenario["label"] for scenario in study["scenarios"]}
    scenarios = pd.DataFrame(
        {"scenario": list(labels), "loss_forward_percent": 0.0, "discipline": "drop-tail", "duration_s": 12.0}
    )
    tables = SimpleNamespace(
        runs=runs,
        scenarios=scenarios,
        scorecard=scorecard(values, labels, study["exam"], runs=runs),
        exam_published=beside_published(values, labels),
    )
    return SimpleNamespace(tables=tables, study=study, figures={}, design=SimpleNamespace(ccas=study["ccas"]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "harm, fall, crashed, leads",
    [
        (0, 0, 0, "nothing worse was shown"),
        pytest.param(2.5, 0, 0, "worse in ", marks=pytest.mark.long),
        (0, 0.1, 0, "worse in 1 of "),  # in no case often enough, and in all of them together
        pytest.param(0, 0, 12, "worse in ", marks=pytest.mark.long),
    ],
)
def test_the_page_leads_with_what_was_shown(study, harm, fall, crashed, leads):
    made = material(study, harm, fall, crashed, seed=2)
    topic, opened = section(made), findings(made)
    assert topic["lead"].startswith(leads)
    text = [finding.text for finding in opened]
    assert f"mine: {topic['lead']}" in text
    assert bool(topic["failed"]) == (crashed > 0) == text[0].startswith("mine crashed the kernel in ")
    if fall:
        assert "worse than every standard CCA" in topic["worst"][0]["text"]
    for sentence in [*text, *topic["open"], *topic["fell"], *topic["failed"]]:
        assert sentence.endswith(".") and "nan" not in sentence and "None" not in sentence and "  " not in sentence, (
            sentence
        )


@pytest.mark.slow
def test_the_template_says_all_of_it(study):
    """The template uses everything that the section returns, and needs nothing else from it."""
    from pathlib import Path

    source = Path("workflow/scripts/topics/exam/section.html.j2").read_text()
    part = SimpleNamespace(data_table=lambda table: table["caption"], figure=str, download=lambda file, text: text)
    files = SimpleNamespace(scorecard="", exam_published="", exam_values="")
    made = material(study, 2.5)
    topic = section(made)
    page = Environment().from_string(source).render(topic=topic, part=part, files=files, figures={}, significance=0.05)
    assert topic["lead"] in page and "Not covered by any case" in page and "IPv4, IPv6" in page
    assert {name for name in topic if f"topic.{name}" not in source} == set()


@pytest.mark.slow
def test_the_page_says_what_does_not_apply(study):
    """It does so before any verdict."""
    exam = study["exam"] | {"inapplicable": {"6.2-tunnel": "programs run on a dumbbell only."}}
    kept = [scenario for scenario in study["scenarios"] if scenario["id"] != "6.2-tunnel"]
    made = material(study | {"exam": exam, "scenarios": kept}, 0)
    assert section(made)["inapplicable"] == ["6.2-tunnel (tunnels): programs run on a dumbbell only."]
    assert "1 case of the exam does not apply and had no run." in [finding.text for finding in findings(made)]
    assert not section(material(study, 0))["inapplicable"]


@pytest.mark.slow
def test_losses_that_begin_during_a_run_are_not_called_none(study):
    """The shipped exam: two cases with constant loss (bursts and a long one), five whose loss begins or ends in the run."""
    (loss,) = [row for row in section(material(study, 0))["population"] if row["name"] == "loss"]
    assert loss["range"] == "none in 38 of 43 cases, 50 to 100 % for a part of the time in 5"
