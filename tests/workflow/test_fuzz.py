"""Damaged files of all kinds that may come from somebody else: minutes of them, in little memory, each in little time."""

import os

import pytest

from fuzzing import READERS, broken_case

pytestmark = pytest.mark.long

#: Together ten minutes; another seed tries others.
SECONDS = float(os.environ.get("FUZZ_SECONDS", 600)) / len(READERS)
SEED = int(os.environ.get("FUZZ_SEED", 1))


@pytest.mark.parametrize("target", READERS)
def test_whatever_is_read_is_refused_or_taken(target, tmp_path):
    count, why = broken_case(target, SEED, SECONDS, tmp_path)
    assert why is None, f"case {count} of seed {SEED}, {tmp_path}/case:\n{why}"
    assert count > SECONDS  # cases are tried at all
