"""A path of MPTCP goes down and comes back, on the guest kernel."""

import copy

from experiment.specification import RunSpecification
from run_tables.run_metrics import bottleneck_metrics
from run_tables.tidy_rows import rows_of_run
from testbed.network.outage import check_outage

OUTAGE = {"path": 2, "at_s": 4, "for_s": 3}


def acked_between(series, begin_s, end_s):
    """Return the bytes acknowledged between two times according to a subflow's samples."""
    within = [
        acked
        for time_s, acked in zip(series["time_s"], series["bytes_acked"], strict=True)
        if begin_s <= time_s <= end_s
    ]
    return within[-1] - within[0]


def test_the_other_path_carries_all_meanwhile_and_the_path_comes_back(run):
    document = run(
        topology="cable", cca="cubic", link={"rate_mbps": 10, "delay_ms": {"forward": 10, "reverse": 10}},
        multipath={"by": "mptcp", "paths": 2, "path_delay_ms": [0, 0], "outage": OUTAGE}, queue={"packets": 100},
        traffic={"duration_s": 16, "sample_interval_ms": 100},
    )  # fmt: skip
    seen = document["outage"]
    # To the instant, under a virtual clock.
    assert (seen["begin_s"], seen["end_s"]) == (4, 7)
    assert seen["let_in"] == {"forward": 0, "reverse": 0} and seen["dropped"]["forward"] > 0
    first, second = document["series"]["sockets"]
    # What was under way is acknowledged within a round trip and its queue; then nothing is until the path is back.
    assert acked_between(second, 4.3, 7) == 0
    assert acked_between(second, 13, 15.5) * 8 / 2.5e6 > 9
    # The other path was full before and stays so: 1,428 of 1,514 bytes of 10 Mbit/s, as far as samples tell.
    assert acked_between(first, 5, 7) * 8 / 2e6 > 9
    # What the outage cost is no random loss.
    assert bottleneck_metrics(document)["link_drops"] == 0
    row, *_ = rows_of_run(document, "label", "0")
    assert row["outage_drops"] == seen["dropped"]["forward"]
    # A path that stayed up, or let packets in, is found.
    asked = RunSpecification(document["specification"])
    assert check_outage(asked, document).ok
    for change in ({"let_in": {"forward": 1, "reverse": 0}}, {"dropped": {"forward": 0, "reverse": 0}}, {"end_s": 7.5}):
        assert not check_outage(asked, copy.deepcopy(document) | {"outage": seen | change}).ok
    assert not check_outage(asked, {key: value for key, value in document.items() if key != "outage"}).ok
