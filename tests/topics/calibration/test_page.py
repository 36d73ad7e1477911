"""The report of a calibration: its own section, and nothing about CCAs; and which studies may request it."""

import pytest

import tidy_tables
from built_study import Built
from calibration_points import points, scenario, tables
from page_checks import PageParts, check_page, page_text
from study_files import study as studies
from study_files.study_design import StudyDesign
from topics.calibration.errors import calibration
from topics.calibration.section import sentence, summaries
from topics.outline import study_outline


class BuiltCalibration(Built):
    """A calibration whose readings are given, not read from documents."""

    def analyse(self, topic, **params):
        if topic.name == "calibration":
            self.readings.to_csv(self.table("readings"), index=False, lineterminator="\n")
            scenarios, table = self.table("scenarios"), self.table("calibration")
            inputs = {"readings": self.table("readings"), "scenarios": scenarios}
            self.carry_out("topics.calibration.measure_errors", inputs, {"calibration": table}, {})
        else:
            super().analyse(topic, **params)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    scenarios, readings = points()
    readings["rate"]["delivered_bytes"] = 99_000 * 1448
    built = BuiltCalibration(tmp_path_factory.mktemp("calibration"))
    built.readings, frame = tables(scenarios, readings)
    study = tidy_tables.synthetic_study(frame, ["reno"], ["ipv4"], replications=1, study="calibration")
    return built.build(study, analysis={"calibration": True})


def test_page_is_sound(built, visit):
    check_page(built.page, visit)


def test_no_other_question_is_asked(built):
    assert {path.stem for path in (built.folder / "analysis").iterdir()} == {
        "readings", "calibration", "descriptive", "steady", "validity", "checks", "mislabelled",
    }  # fmt: skip
    assert not {"speed", "ccas", "theory", "delay-and-loss", "over-time"} & set(PageParts.of(built.page).ids)


def test_the_opening_sentence_and_the_tables_name_what_is_off(built):
    text = page_text(built.page)
    assert "17 of 18 measured values agree with their exact numbers; the rate is off by at most −10,000 ppm" in text
    assert "Off: rate in rate." in text
    assert built.page.read_text(encoding="utf-8").count('verdict differs">off<') == 1


def test_what_is_known_of_the_largest_error_is_said():
    table = calibration(*tables(*points()))
    assert sentence(table) == (
        "18 of 18 measured values agree with their exact numbers; the rate is off by at most +165.2 ppm, of which +165.1 ppm "
        "are due to the shaper's rounding to whole nanoseconds."
    )
    by_quantity = {(summary.quantity, summary.what): summary for summary in summaries(table)}
    assert by_quantity["rate", ""].uncertainty_ppm == pytest.approx(1e6 / 600_000, abs=0.1)
    assert {("queue", "longest"), ("queue", "first drop"), ("serialisation", "echo")} < by_quantity.keys()
    assert by_quantity["loss", ""].largest_z == pytest.approx(0)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (4.856, "\u22122,306 ppm, of which \u22121,156 ppm can be due to Router Solicitations."),
        # The rate is higher than expected, although other frames make it lower.
        (4.80, "+9,333 ppm."),
    ],
)
def test_frames_of_others_are_not_taken_for_the_shapers_rounding(seconds, words):
    """40 packets of 1,514 bytes at 0.1 Mbit/s; the shaper's rounding is less than 1 ppm of 121 ms."""
    reading = {
        "payload_bytes": 1448,
        "retransmits": 0,
        "drops": 0,
        "queue_least_packets": 10,
        "sample_ms": 10,
        "echo_ms": 40.0,
    }
    reading |= {"delivered_bytes": 40 * 1448, "begin_ns": 0, "end_ns": int(seconds * 1e9)}
    table = calibration(*tables({"slow": scenario("slow", 0.1, 20.0)}, {"slow": reading}))
    assert sentence(table).endswith(f"the rate is off by at most {words}")


CALIBRATED = {
    "study": "small", "ccas": ["reno"], "analysis": {"calibration": True}, "scenarios": [{"id": "a", "queue": {"packets": 9}}],
}  # fmt: skip


def test_a_calibration_is_the_only_question_of_its_study():
    outline = study_outline(StudyDesign(studies.resolve(CALIBRATED, "small.yaml")))
    assert [topic.name for topic in outline.topics] == ["calibration", "claims", "validity", "cells"]
    assert {figure.category for figure in outline.figures} <= {"Calibration"}
    plain = CALIBRATED | {"analysis": {"calibration": False}}
    names = [topic.name for topic in study_outline(StudyDesign(studies.resolve(plain, "small.yaml"))).topics]
    assert "calibration" not in names and "speed" in names


@pytest.mark.parametrize(
    "more, problem",
    [
        ({"platform": "host"}, "platform is host; allowed with analysis.calibration: uml."),
        ({"flows": 2}, "flows is 2; allowed with analysis.calibration: 1."),
        (
            {"link": {"netem": "both-ends"}},
            "link.netem is both-ends; allowed with analysis.calibration: receiving-side.",
        ),
        (
            {"transport": {"segmentation_offload": True}},
            "transport.segmentation_offload is true; allowed with analysis.calibration: false.",
        ),
        (
            {"link": {"rate_mbps": None}, "traffic": {"bitrate_mbps": 10}},
            "link.rate_mbps is null; allowed with analysis.calibration: a number.",
        ),
    ],
)
def test_what_has_no_exact_number_is_refused(more, problem):
    asked = CALIBRATED | {"scenarios": [CALIBRATED["scenarios"][0] | more]}
    with pytest.raises(studies.StudyError) as error:
        studies.resolve(asked, "small.yaml")
    assert f"scenarios[a].{problem}" in str(error.value)
