"""The settings of the shipped exam."""

import pytest

from study_files import study as studies

QUICK = "config/studies/exam-quick.yaml"


@pytest.fixture(scope="module")
def exam():
    """The settings of the shipped exam, for a CCA ``mine``, with all rows deciding."""
    return studies.resolve(studies.load(QUICK), QUICK)["exam"] | {"cca": "mine", "primaries": {}}
