"""Damaged files of all kinds that may come from somebody else, each read in little memory and time."""

import os

import pytest

from fuzzing import READERS, broken_case

#: Cases of each kind of file; another seed tries others.
CASES = int(os.environ.get("FUZZ_CASES", 200))
SEED = int(os.environ.get("FUZZ_SEED", 1))
#: Cases of each kind in every call of the tests.
SAMPLE = 15


@pytest.mark.parametrize("count", [SAMPLE, pytest.param(CASES, marks=pytest.mark.long)], ids=("sample", "all"))
@pytest.mark.parametrize("target", READERS)
def test_whatever_is_read_is_refused_or_taken(target, count, tmp_path):
    read, why = broken_case(target, SEED, count, tmp_path)
    assert why is None, f"case {read} of seed {SEED}, {tmp_path}/case:\n{why}"
    assert read == count
