"""The testbed's identity in a call of Snakemake: the state of the files that it was read from is remembered."""

import pytest

from session import module_memory
from session.testbed_identity import simulator_digest, testbed_digest
from simulator.run import program_digest
from testbed.machine import identity


@pytest.fixture(autouse=True)
def memory(tmp_path, monkeypatch):
    """The file for remembered identities, in a folder without any."""
    monkeypatch.chdir(tmp_path)
    module_memory._remembered.cache_clear()
    yield tmp_path / module_memory.MEMORY
    module_memory._remembered.cache_clear()


def test_it_is_what_the_testbed_computes_itself():
    assert testbed_digest() == identity.package_digest(*identity.TESTBED)
    assert simulator_digest() == program_digest()


def test_a_second_call_reads_no_module(memory, monkeypatch):
    before = testbed_digest(), simulator_digest()
    assert memory.exists()
    module_memory._remembered.cache_clear()
    monkeypatch.setattr(identity, "module_digest", lambda content: pytest.fail("a module is read again"))
    assert (testbed_digest(), simulator_digest()) == before
