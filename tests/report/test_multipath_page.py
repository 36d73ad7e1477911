"""The report of a study of several paths: its section and figures, and nothing of what one path has."""


import pandas as pd
import path_studies
import pytest
from built_study import Built
from page_checks import PageParts, check_page, page_text

FIGURES = {"environments", "aggregation", "path-shares"}


@pytest.fixture(scope="module")
def virtual(tmp_path_factory):
    return Built(tmp_path_factory.mktemp("virtual")).build(path_studies.paths_study())


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return Built(tmp_path_factory.mktemp("real")).build(path_studies.paths_study("host", ("cubic", "reno")))


@pytest.fixture(params=["virtual", "real"])
def built(request):
    return request.getfixturevalue(request.param)


def test_page_is_sound(built, visit):
    check_page(built.page, visit)


def test_what_belongs_to_one_path_is_left_out(built):
    made = {path.stem for path in (built.folder / "figures").glob("*.svg")}
    assert FIGURES <= made and "knee" not in made
    assert not {"models", "regressions", "phases"} & {path.stem for path in (built.folder / "analysis").iterdir()}
    assert not {"theory", "time-series"} & set(PageParts.of(built.page).ids)


def test_each_study_has_the_figures_of_what_it_recorded(virtual, real):
    figures = [{path.stem for path in (built.folder / "figures").glob("*.svg")} for built in (virtual, real)]
    assert {"transfer-rate-cubic", "transfer-rate-vegas"} <= figures[0] - figures[1]
    assert {"cpu-use", "cpu-time-cubic"} <= figures[1] - figures[0]


def test_findings_have_the_numbers(virtual, real):
    text = page_text(virtual.page)
    # 4 x 100 x 1428/1514 x 0.995, and of the third replication a thousandth less; IPv6: 1408.
    mptcp = [0.995 * (1 - 1e-3 / 3) * 400 * payload / 1514 for payload in (1408, 1428)]
    assert f"MPTCP {mptcp[0]:.1f} to {mptcp[1]:.1f} Mbit/s" in text
    assert "lowest Vegas in tun6_path6" in text
    assert "With one path 0.5 ms longer than the others MPTCP gives" in text
    assert "busy with MPTCP 13.2 % over 1 path and 37.2 % over 4 paths" in page_text(real.page)


def test_link_rate_in_the_figure_of_goodput_is_that_of_all_paths(virtual):
    svg = virtual.figure("goodput").read_text()
    assert "400" in svg and "link rate" in svg


def test_transfer_rates_add_up_the_subflows(virtual):
    data = pd.read_csv(virtual.data("transfer-rate-cubic"))
    mptcp = data[data["environment"] == "mptcp4"]
    goodput = 0.995 * 400 * 1428 / 1514
    assert mptcp["acked_mbps"].to_numpy() == pytest.approx(goodput, rel=1e-3)
    assert data.loc[data["environment"] == "baseline4", "acked_mbps"].median() == pytest.approx(0.995 * 100 * 1448 / 1514, rel=1e-3)


def test_a_study_without_a_valid_run_says_so(tmp_path):
    built = Built(tmp_path).build(path_studies.paths_study(replications=2, invalid_share=1))
    assert "No run over joined paths is valid" in page_text(built.page)
    assert "No valid run." in built.figure("path-shares").read_text()
