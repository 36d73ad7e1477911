"""The labels that distinguish queues in figures."""

import pandas as pd

from topics.queues.tables import QUEUE_CELLS
from topics.queues.variants import variants_of, with_variants


def cells(*rows):
    columns = ["discipline", "queue_parameters", "platform"]
    usual = {"setting": 1, "ip_version": "ipv4", "cca": "reno", "ecn": "off"}
    drawn = pd.DataFrame(rows, columns=columns).assign(**usual)
    return with_variants(drawn.assign(scenario_label=[f"s{number}" for number in range(len(rows))]))


def test_a_queue_is_named_by_its_discipline_and_what_is_not_default_where_there_are_several():
    one = cells(("codel", "target_ms 5, ecn false", "uml"), ("pie", "", "uml"))
    assert list(variants_of(one).values()) == ["codel", "pie"]
    two = cells(("codel", "target_ms 5", "uml"), ("codel", "target_ms 20", "uml"))
    assert list(variants_of(two).values()) == ["codel", "codel 20"]


def test_the_same_queue_on_several_platforms_is_one_a_platform():
    both = cells(("codel", "target_ms 5", "uml"), ("codel", "target_ms 5", "ns3:3.44"), ("pie", "", "uml"))
    assert list(variants_of(both).values()) == ["codel on Linux", "codel on ns-3 3.44", "pie on Linux"]
    assert both["variant"].nunique() == 3


def test_two_scenarios_whose_conditions_read_alike_are_told_by_their_labels():
    two = cells(("codel", "target_ms 5", "uml"), ("codel", "target_ms 5", "uml"), ("pie", "", "uml"))
    assert list(variants_of(two).values()) == ["codel (s0)", "codel (s1)", "pie"]


def test_without_a_cell_there_is_no_variant():
    """For example in a study without a valid run."""
    none = with_variants(pd.DataFrame(columns=QUEUE_CELLS.names))
    assert none.empty and variants_of(none) == {}
