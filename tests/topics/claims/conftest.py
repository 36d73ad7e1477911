"""Fixtures of the tests of claims: the claims of the paper that the default study addresses."""

import pytest

from topics.claims.claims_file import load_claims


@pytest.fixture(scope="module")
def shipped(root):
    """The claims of the IP paper, loaded."""
    return load_claims(root / "config/claims/lima-ccas-ipv4-ipv6.yaml")
