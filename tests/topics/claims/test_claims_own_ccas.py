"""Claims about CCAs defined by a study."""

import pytest

from study_files import study as studies
from topics.claims.claims_file import ClaimsError, load_claims


def test_the_files_names_are_those_of_its_study(root):
    claims = load_claims(root / "config/claims/rfc-9438-cubic.yaml")
    study = studies.resolve(studies.load(root / "config/studies/atlas/cubic-parameters.yaml"), "study")
    assert claims["ccas"] == study["ccas"]
    assert [scenario["id"] for scenario in claims["scenarios"]] == [scenario["id"] for scenario in study["scenarios"]]


def test_a_name_that_is_neither_the_kernels_nor_the_files_is_refused(root, tmp_path):
    text = (root / "config/claims/rfc-9438-cubic.yaml").read_text()
    path = tmp_path / "claims.yaml"
    path.write_text(
        text.replace("denominator: {ccas: [cubic-no-convergence]}", "denominator: {ccas: [cubic-no-convergens]}")
    )
    with pytest.raises(ClaimsError, match="did you mean 'cubic-no-convergence'"):
        load_claims(path)
