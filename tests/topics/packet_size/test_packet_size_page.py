"""The report of a study of message sizes: its own section and figures, on one platform and on two."""

import re

import pandas as pd
import pytest

import size_studies
from built_study import Built
from page_checks import PageParts, check_page, empty_sections, page_text

pytestmark = pytest.mark.slow

FIGURES = {"size-tcp-throughput", "size-udp-throughput", "size-tcp-rtt", "size-udp-rtt", "size-differences"}
#: The claims file that has the paper's cells.
PAPER = "windows-packet-size"


@pytest.fixture(scope="module")
def virtual(tmp_path_factory):
    return Built(tmp_path_factory.mktemp("virtual")).build(size_studies.sizes_study(), PAPER)


@pytest.fixture(scope="module")
def real(virtual, tmp_path_factory):
    """The same study on the host, beside that on uml."""
    return Built(tmp_path_factory.mktemp("real"), other=virtual).build(size_studies.sizes_study("host"), PAPER)


@pytest.fixture(params=["virtual", pytest.param("real", marks=pytest.mark.long)])
def built(request):
    return request.getfixturevalue(request.param)


def test_page_is_sound(built, visit):
    check_page(built.page, visit)


def test_what_compares_ccas_is_left_out(built):
    made = {path.stem for path in (built.folder / "figures").glob("*.svg")}
    assert made == FIGURES
    tables = {path.stem for path in (built.folder / "analysis").iterdir()}
    assert tables == {
        "descriptive",
        "steady",
        "validity",
        "checks",
        "claims",
        "claim_versions",
        "size_cells",
        "size_differences",
    }
    assert not {"speed", "ccas", "theory", "delay-and-loss", "ip-version"} & set(PageParts.of(built.page).ids)
    assert "knee" not in built.page.read_text(encoding="utf-8").split("data-gzip")[0]


def test_opening_sentences_have_the_numbers(virtual, real):
    text = page_text(virtual.page)
    assert "In 120 of 120 cells the mean agrees with the value calculated from the headers, within 0.5" in text
    assert "Messages of 128 bytes leave TCP in packets of 1,447 bytes" in text
    assert "segments limited to 128 bytes carry 58.7 Mbit/s" in text
    assert "UDP −9.35 to −1.34" in text
    assert "On the machine's own kernel" not in text
    trips = "the kernel takes 31.3 to 44.1 µs for a UDP round trip, and the cable 31.5 to 239.5 µs"
    assert trips in page_text(real.page)


def test_impossible_printed_values_are_named(virtual):
    text = page_text(virtual.page)
    # 128 bytes with 20 + 20 + 14 + 24 of headers and frame: 206 bytes.
    would_take = f"would take {74.1 * 206 / 128:.0f} Mbit/s of the cable"
    assert f"74.1 Mbit/s with 128 bytes (IPv4, peer to peer) {would_take}" in text
    assert set(re.findall(r"([\d.]+) Mbit/s with [\d,]+ bytes \(", text)) == {"74.1", "71.96", "73.31", "70.62"}


def test_a_cell_that_deviates_is_shown(tmp_path_factory):
    study = size_studies.sizes_study()
    wrong = (study["runs"]["scenario"] == "cs-tcp-segments-640") & (study["runs"]["ip_version"] == "ipv6")
    study["runs"].loc[wrong, "goodput_mbps"] *= 0.98
    built = Built(tmp_path_factory.mktemp("wrong")).build(study)
    assert "In 119 of 120 cells" in page_text(built.page)
    assert built.page.read_text(encoding="utf-8").count('verdict differs">deviates<') == 1


def test_both_platforms_are_drawn_where_both_are_there(virtual, real):
    for slug in FIGURES - {"size-differences"}:
        alone, both = (pd.read_csv(built.data(slug)) for built in (virtual, real))
        assert set(alone["platform"]) == {"uml"} and set(both["platform"]) == {"uml", "host"}
        alone, both = (built.figure(slug).read_text() for built in (virtual, real))
        assert "real" in both and "IPv4, real" not in alone
    panels = [built.figure("size-differences").read_text().count("<view") for built in (virtual, real)]
    assert panels == [5, 10]


def test_one_ip_version_alone_makes_a_page(tmp_path_factory):
    study = size_studies.sizes_study()
    for name in ("runs", "flows", "checks"):
        study[name] = study[name][study[name]["ip_version"] == "ipv4"]
    study["provenance"]["study"]["ip_versions"] = ["ipv4"]
    built = Built(tmp_path_factory.mktemp("one")).build(study)
    assert {path.stem for path in (built.folder / "figures").glob("*.svg")} == FIGURES - {"size-differences"}
    assert empty_sections(built.page) == []
    assert "IPv6 against IPv4" not in page_text(built.page)


def test_a_study_without_a_valid_run_makes_a_page(tmp_path_factory):
    study = size_studies.sizes_study(sizes=(128, 1408), invalid_share=1)
    built = Built(tmp_path_factory.mktemp("none")).build(study)
    assert empty_sections(built.page) == []
    assert not re.search(r"\b(nan|inf)\b", page_text(built.page))
