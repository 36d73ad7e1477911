"""Any two or three keys of the schema together make a valid study or are refused in sentences, never with a traceback."""

import pytest

from drawn_pairs import combinations, drawn_scenario, study_of
from study_files import study as study_files


def resolved(scenario) -> bool:
    try:
        study_files.resolve(study_of(scenario), "combined")
    except study_files.StudyError as error:
        assert error.problems
        return False
    return True


def test_a_chain_that_contradicts_itself_is_refused():
    """No further checks are made of it, because they would be about hosts that don't exist."""
    for group in ({"application": "web", "bytes": 5000, "arrivals_per_s": 4}, {"application": "iperf3"}):
        group |= {"name": "g", "stop_s": 2, "pair": 2}
        assert not resolved({"id": "s", "topology": "chain", "flows": [group], "hosts": {"pairs": 2}})


@pytest.mark.slow
@pytest.mark.parametrize(("of", "count"), [(2, 1000), (3, 500)])
def test_drawn_combinations_are_taken_or_refused(of, count):
    taken = [resolved(drawn_scenario(keys, 1)) for keys in combinations(1, count, of)]
    assert 0.3 * count < sum(taken) < 0.9 * count


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_all_pairs_are_taken_or_refused(seed):
    for keys in combinations(seed, 10**6):
        resolved(drawn_scenario(keys, seed))
