"""Claims of the atlas on BBR and on queues: a publication's printed values meet its own bounds, and each study has the scenarios that its
claims need."""

import pytest

from study_files import study as studies
from topics.claims.claim_measures import meets_requirement
from topics.claims.claims_file import load_claims

#: What the publications print, in the unit of the claim.
PUBLISHED = {
    "bbr-random-loss": {"cubic-tenfold-at-0.1": 10, "bbr-limit-to-1": 94.6, "bbr-limit-at-5": 90.8},
    "bbr-shallow-buffers": {"massive-loss-in-a-small-buffer": 20},
    "bbr-long-rtt": {"short-flow-6.3": 6.3},
    "bbr-proberrt": {"four-packets": 4, "probe-together": 10},
    "bbr-any-number": {"share-beside-cubic": 40, "share-beside-reno": 40, "number-of-cubic-flows": 1, "number-of-reno-flows": 1},
    "bbr-when": {
        "shallow-gain": 386.0 / 179.6, "shallow-cubic": 179.6, "shallow-bbr": 386.0, "shallow-retransmits": 10, "deep-10": 0.66,
        "deep-20": 0.67, "beside-shallow": 94, "beside-even": 47.8, "beside-deep": 23.9,
    },
    "dctcp-queue": {"dctcp-full-throughput": 950, "tcp-full-throughput": 950, "dctcp-queue-near-k": 20, "tcp-queue-ten-times": 10},
    "dctcp-incast": {"dctcp-at-20-servers": 8},
    "bufferbloat": {"codel-median-at-target": 5, "codel-below-ten": 60},
    "pie": {"mean-delay-at-target-few": 15 / 1.2112, "mean-delay-at-target-many": 15 / 1.2112},
    "policer": {"six-times-the-loss": 6, "policing-without-rtt-inflation": 40},
}  # fmt: skip
#: What two bounds of a range are.
RANGES = {("bbr-shallow-buffers", "standing-queue-of-several"): (40, 50)}


def requirement_of(root, name, claim):
    return next(
        one["requirement"] for one in load_claims(root / f"config/claims/{name}.yaml")["claims"] if one["id"] == claim
    )


@pytest.mark.parametrize(("name", "claim"), [(name, claim) for name, values in PUBLISHED.items() for claim in values])
def test_published_numbers_meet_their_own_bounds(root, name, claim):
    assert meets_requirement([PUBLISHED[name][claim]], requirement_of(root, name, claim)).all()


@pytest.mark.parametrize(("name", "claim"), RANGES)
def test_published_ranges_meet_their_own_bounds(root, name, claim):
    assert meets_requirement(RANGES[name, claim], requirement_of(root, name, claim)).all()


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_study_of_the_atlas_has_its_claims_and_their_source(root, name):
    path = str(root / f"config/studies/atlas/{name}.yaml")
    study = studies.resolve(studies.load(path), path)
    claims = load_claims(root / f"config/claims/{name}.yaml")
    assert study["study"] == study["analysis"]["claims"] == name
    assert len(study["scenarios"]) == len(claims["scenarios"])
    assert set(claims["ccas"]) == set(study["ccas"])
    assert claims["paper"]["source"]
    for claim in claims["claims"]:
        assert claim["tolerance"].endswith("."), claim["id"]
