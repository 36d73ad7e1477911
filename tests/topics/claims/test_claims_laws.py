"""Claims of the atlas based on a formula have the formula's numbers, and each study has the networks that its claims need."""

import math

import pytest

from study_files import study as studies
from tcp_models.throughput_models import MATHIS_C
from topics.claims.claim_measures import meets_requirement
from topics.claims.claims_file import load_claims

STUDIES = (
    "sqrt-law", "padhye", "cubic-friendliness", "cubic-rtt-fairness", "hystart", "initial-window", "convergence", "sqrt-n-buffers",
    "at-scale",
)  # fmt: skip


def claims_of(root, name):
    return {claim["id"]: claim for claim in load_claims(root / f"config/claims/{name}.yaml")["claims"]}


def padhye_mbps(loss, rtt_s=0.1, timeout_s=0.3, segment_bytes=1448):
    """Goodput by equation 30 of Padhye and others (1998), with an acknowledgement for each segment."""
    timeouts = timeout_s * min(1, 3 * math.sqrt(3 * loss / 8)) * loss * (1 + 32 * loss**2)
    return (1 - loss) * segment_bytes * 8e-6 / (rtt_s * math.sqrt(2 * loss / 3) + timeouts)


@pytest.mark.parametrize("percent", [0.5, 1, 2, 5, 10, 20])
@pytest.mark.parametrize("stack", ["classic", "linux"])
def test_padhye_s_formula(root, stack, percent):
    claim = claims_of(root, "padhye")[f"{stack}-{percent:g}pct"]
    value = padhye_mbps(percent / 100)
    assert float(claim["published"].split()[0]) == pytest.approx(value, rel=0.005)
    assert claim["requirement"]["at_least"] == pytest.approx(value / 1.5, rel=0.01)
    assert claim["requirement"]["at_most"] == pytest.approx(value * 1.5, rel=0.01)


def test_constants_of_the_square_root_law(root):
    claims = claims_of(root, "sqrt-law")
    constants = {
        "constant-random": MATHIS_C, "constant-random-delayed": MATHIS_C / math.sqrt(2), "constant-even": math.sqrt(3 / 2),
        "constant-even-delayed": math.sqrt(3 / 4),
    }  # fmt: skip
    for name, constant in constants.items():
        assert meets_requirement([constant], claims[name]["requirement"]).all()
        assert float(claims[name]["published"]) == pytest.approx(constant, abs=0.006)


def round_trips(segments, window):
    """The rule of RFC 6928's table: an acknowledgement for every two segments, and for the last one when its timer expires."""
    sent, trips = window, 1
    while sent < segments:
        window += window // 2
        sent, trips = sent + window, trips + 1
    return trips


@pytest.mark.parametrize("window", [3, 10])
def test_round_trips_of_initial_windows(root, window):
    """The RFC's number of round trips, plus the handshake, is in the middle of each bound."""
    for name, claim in claims_of(root, "initial-window").items():
        if not name.startswith(f"iw{window}-"):
            continue
        trips = int(claim["published"].split()[0])
        assert abs(round_trips(int(name.split("-")[1].removesuffix("segments")), window) - trips) <= 1, name
        assert claim["requirement"] == {"at_least": 100 * (trips + 1) - 50, "at_most": 100 * (trips + 1) + 50}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_has_the_networks_of_its_claims(root, name):
    study = studies.resolve(studies.load(root / f"config/studies/atlas/{name}.yaml"), name)
    claims = load_claims(root / f"config/claims/{name}.yaml")
    assert study["analysis"]["claims"] == name
    assert set(claims["ccas"]) <= set(study["ccas"])
    assert len(claims["scenarios"]) == len(study["scenarios"])
    for scenario in claims["scenarios"]:
        rates = {one["link"]["rate_mbps"] for one in study["scenarios"]}
        assert set(scenario["rate_mbps"]) <= rates
    assert claims["paper"]["source"]
