"""The words for queueing disciplines: each discipline has some, and none is unused."""

from experiment.disciplines import DISCIPLINES
from wording.discipline_words import DISCIPLINE_WORDS, PARAMETER_WORDS


def test_every_discipline_and_parameter_has_its_words():
    assert list(DISCIPLINE_WORDS) == list(DISCIPLINES)
    assert set(PARAMETER_WORDS) == {parameter.name for one in DISCIPLINES.values() for parameter in one.parameters}
