"""Damaged claims files that `tests/fuzzing.py` found."""

import pytest
import yaml

from topics.claims.claims_file import ClaimsError, load_claims


def test_a_claim_whose_kind_is_misspelt(tmp_path, root):
    """Where other keys are allowed, as beside a missing `kind`, no sentence reports the misspelt one."""
    text = (root / "config/claims/geni-cwnd-fairness.yaml").read_text()
    path = tmp_path / "claims.yaml"
    path.write_text(text.replace("    kind: ", "    ind: ", 1))
    with pytest.raises(ClaimsError, match=r"\.kind is missing; allowed: one of ordering"):
        load_claims(path)


def test_a_claim_without_its_kind(tmp_path, root):
    """Its `id` was once mistaken for a misspelt `kind`, and a wrong sentence would have been printed."""
    content = yaml.safe_load((root / "config/claims/windows-packet-size.yaml").read_text())
    kept = {"id", "section", "statement", "published", "quantity"}
    content["claims"] = [{key: value for key, value in content["claims"][0].items() if key in kept}]
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ClaimsError, match=r"\.kind is missing; allowed: one of ordering"):
        load_claims(path)
