"""The testbed's identity in a call of Snakemake: the state of the files that it was read from is remembered."""

import os
import time

import pytest

from session import module_memory
from session.testbed_identity import program_content, simulator_digest, testbed_digest
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


def test_an_edit_that_keeps_size_and_mtime_changes_the_program_content(tmp_path, monkeypatch):
    module = tmp_path / "below" / "one.py"
    module.parent.mkdir()
    module.write_text("a = 1\n")
    monkeypatch.setattr(identity, "TESTBED", (tmp_path,))
    before, times = program_content(), module.stat()
    assert program_content() == before
    time.sleep(0.02)  # a file system's time moves in steps of a timer tick
    module.write_text("a = 2\n")
    os.utime(module, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert program_content() == identity.content_digest(tmp_path, identity.SIMULATOR) != before
