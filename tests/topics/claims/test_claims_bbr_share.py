"""The claims on BBR's share beside CUBIC and Reno: they agree with the paper's published data, and find their scenarios."""

import re
import statistics

import pytest

from study_files import study as studies
from topics.claims.claim_measures import meets_requirement
from topics.claims.claims_file import load_claims

BUFFERS_BDP = (1, 2, 4, 8, 16)
#: Mbit/s of the BBR flows by buffer, a row each of the three files: figure2a-1 to -3.csv (CUBIC), figure2c-1 to -3.csv.
PUBLISHED = {
    ("cubic", 1): (
        (8.152325, 5.66165, 4.7852, 4.4615, 3.854325),
        (8.1127, 5.745825, 4.761025, 4.2423, 4.04),
        (8.157025, 5.785025, 4.89735, 4.63175, 3.97795),
    ),
    ("cubic", 2): (
        (9.0721, 7.915975, 5.62805, 5.102, 4.7337),
        (9.087825, 7.913625, 5.624875, 5.1607, 4.870775),
        (9.0849, 8.005825, 5.525375, 5.116925, 4.77745),
    ),
    ("reno", 1): (
        (8.35455, 6.00395, 4.58055, 4.6704, 4.48615),
        (8.31655, 5.9925, 4.636, 4.589, 4.55595),
        (8.40565, 6.2241, 4.6025, 4.7057, 4.55405),
    ),
    ("reno", 2): (
        (9.07765, 8.16295, 5.90115, 5.3235, 4.99865),
        (9.0771, 8.16525, 5.9205, 5.3074, 4.9952),
        (9.0678, 8.20975, 6.0755, 5.41775, 4.97845),
    ),
}
RATE_MBPS = 10
CELLS = [(other, flows, bdp) for other, flows in PUBLISHED for bdp in BUFFERS_BDP]


@pytest.fixture(scope="module")
def file(request):
    return load_claims(request.config.rootpath / "config/claims/sarpkaya-bbr-share.yaml")


def parts(other, flows, bdp):
    """Return the BBR flows' share of the link in each of the three runs, in percent."""
    return [100 * run[BUFFERS_BDP.index(bdp)] / RATE_MBPS for run in PUBLISHED[other, flows]]


@pytest.mark.parametrize(("other", "flows", "bdp"), CELLS)
def test_a_claim_says_what_the_published_runs_say(file, other, flows, bdp):
    claim = next(claim for claim in file["claims"] if claim["id"] == f"{flows}bbr-{other}-{bdp}bdp")
    published = parts(other, flows, bdp)
    mean = statistics.mean(published)
    printed = [f"{value:.1f}" for value in (mean, min(published), max(published))]
    assert re.findall(r"\d+\.\d", claim["published"]) == printed
    assert f"{printed[0]} %" in claim["statement"] and f"{bdp} BDP" in claim["statement"]
    assert (claim["scenarios"], claim["ccas"]) == ([f"{flows}bbr-{bdp}bdp"], [f"bbr+{other}"])
    bounds = claim["requirement"]
    assert (bounds["at_least"], bounds["at_most"]) == pytest.approx((mean - 5, mean + 5), abs=0.051)
    assert meets_requirement(published, bounds).all()


def test_the_tolerance_is_what_the_papers_own_spread_makes_it():
    largest = max(statistics.stdev(parts(*cell)) for cell in CELLS)
    assert round(largest, 1) == 2.0 and 2.5 * round(largest, 1) == 5


def test_each_step_of_the_buffer_is_as_stated(file):
    claim = next(claim for claim in file["claims"] if claim["id"] == "one-bbr-falls-with-buffer")
    means = [statistics.mean(parts("cubic", 1, bdp)) for bdp in BUFFERS_BDP]
    steps = [f"{after / before:.2f}" for before, after in zip(means, means[1:], strict=False)]
    assert re.findall(r"0\.\d\d", claim["published"]) == steps


def test_two_flows_get_more_than_one_as_stated(file):
    claim = next(claim for claim in file["claims"] if claim["id"] == "two-bbr-get-more")
    times = [
        statistics.mean(parts(other, 2, bdp)) / statistics.mean(parts(other, 1, bdp))
        for other in ("cubic", "reno")
        for bdp in BUFFERS_BDP
    ]
    assert claim["published"] == f"{min(times):.2f} to {max(times):.2f} times"


def test_the_shipped_study_has_every_scenario_once(file, root):
    path = root / "config/studies/atlas/bbr-share.yaml"
    study = studies.resolve(studies.load(path), str(path))
    assert [scenario["id"] for scenario in study["scenarios"]] == [scenario["id"] for scenario in file["scenarios"]]
    for ours, theirs in zip(study["scenarios"], file["scenarios"], strict=True):
        bdp = int(theirs["id"].split("-")[1].removesuffix("bdp"))
        # tc takes the notebook's kb for 1,024 bytes.
        assert ours["queue"]["bytes"] == 40 * RATE_MBPS / 8 * bdp * 1024
        assert ours["flows"] == int(theirs["id"][0]) + 1
    assert study["ccas"] == file["ccas"]
