"""The assignment of work to cores: each side has its own core, and no two share a core's threads while other cores are free."""

import pytest

from testbed.machine.cores import place, siblings_of

ALONE = {core: {core} for core in range(8)}
NODES = ["r1", "r2", "h1", "h2", "h3", "h4"]


def test_two_cores_are_one_for_each_side():
    placement = place({0, 1}, ALONE)
    assert [placement.of(node) for node in NODES] == [0, 1, 0, 1, 0, 1]
    assert placement.roles(NODES) == {0: ["r1", "senders"], 1: ["r2", "receivers", "program"]}
    assert placement.roles(["h1", "h2"]) == {0: ["senders"], 1: ["receivers", "program"]}


def test_with_more_cores_the_program_has_one_of_its_own():
    assert place({0, 1, 2}, ALONE).roles(NODES) == {0: ["r1", "r2", "program"], 1: ["senders"], 2: ["receivers"]}
    assert place({2, 3, 5, 7}, ALONE).roles(NODES) == {
        2: ["program"], 3: ["senders"], 5: ["receivers"], 7: ["r1", "r2"],
    }  # fmt: skip


def test_one_core_carries_all():
    assert place({3}, ALONE).roles(NODES) == {3: ["r1", "r2", "senders", "receivers", "program"]}


@pytest.mark.parametrize(
    ("siblings", "used"),
    [
        ({0: {0, 1}, 1: {0, 1}, 2: {2, 3}, 3: {2, 3}}, {0, 2}),
        ({0: {0, 2}, 1: {1, 3}, 2: {0, 2}, 3: {1, 3}}, {0, 1}),
        # Where there is but one core, its threads are better than nothing.
        ({0: {0, 1}, 1: {0, 1}}, {0, 1}),
    ],
)
def test_threads_of_one_core_count_as_one(siblings, used):
    assert set(place(siblings, siblings).roles(NODES)) == used


def test_siblings_are_read_from_sysfs(tmp_path):
    for core, text in ((0, "0,4\n"), (1, "1-2\n")):
        (tmp_path / f"cpu{core}/topology").mkdir(parents=True)
        (tmp_path / f"cpu{core}/topology/thread_siblings_list").write_text(text)
    assert siblings_of([0, 1, 9], tmp_path) == {0: {0, 4}, 1: {1, 2}, 9: {9}}
