"""Shares of a chain's cells, against numbers worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from drawn_figure import drawing_alike
from run_tables.path_tables import BOTTLENECKS
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import FLOWS, RUNS
from study_files.study import resolve
from tidy_tables import completed
from topics.chain.describe_chains import describe_chains
from topics.chain.plot_shares import plot_shares
from topics.chain.section import findings
from topics.chain.tables import CHAIN_CELLS
from topics.chain.topic import in_common

SCENARIO = {
    "scenario": "two", "topology": "chain", "bottlenecks": 2, "flows": 3, "cross_flows": 1, "cross_cca": "", "pairs": 3,
    "rate_mbps": 10.0, "discipline": "drop-tail", "queue": "66 packets", "platform": "uml", "loss_forward_percent": 0.0,
}  # fmt: skip
SETTINGS = dict.fromkeys(("one", "two"), {"setting": 1, "conditions": "10 Mbit/s, drop-tail of 66 packets"})
ONE = SCENARIO | {
    "scenario": "one",
    "topology": "dumbbell",
    "bottlenecks": 1,
    "flows": 2,
    "cross_flows": np.nan,
    "pairs": 2,
}
KEYS = {"cca": "reno", "ip_version": "ipv4"}


def tables(goodputs, rates=(10.0, 10.0), scenario=SCENARIO):
    """Return runs, flows, bottlenecks and scenarios; each list of the flows' goodputs is one replication."""
    runs, flows, bottlenecks = [], [], []
    for replication, each in enumerate(goodputs, 1):
        key = {"scenario": scenario["scenario"], **KEYS, "replication": replication, "valid": True}
        runs.append(
            key | {
                "scenario_label": "label", "platform": "uml", "mss_bytes": 1000.0, "ideal_goodput_mbps": 9.5,
                "queue_drops": 30.0, "packets_sent": 1000.0,
            }
        )  # fmt: skip
        for flow, goodput in enumerate(each):
            rtt, again = (200.0, 20.0) if flow == 0 else (100.0, 5.0)
            flows.append(
                key | {
                    "flow": flow, "pair": flow + 1, "goodput_steady_mbps": goodput, "rtt_mean_ms": rtt, "retransmits": again,
                    "bytes_received": (980 if flow == 0 else 995) * 1000.0,
                }
            )  # fmt: skip
        for number, rate in enumerate(rates if scenario["bottlenecks"] > 1 else (), 1):
            bottlenecks.append(
                key | {
                    "bottleneck": number, "rate_mbps": rate, "discipline": "drop-tail", "queue_packets": 66.0,
                    "ideal_goodput_mbps": 0.95 * rate, "queue_drops": 10.0 * number, "packets_sent": 1000.0,
                }
            )  # fmt: skip
    shapes = ((runs, RUNS), (flows, FLOWS), (bottlenecks, BOTTLENECKS), ([scenario], SCENARIOS))
    return [completed(pd.DataFrame(rows, columns=None if rows else table.names), table) for rows, table in shapes]


def test_a_cell_by_hand():
    cell = describe_chains(*tables([[2.0, 6.0, 8.0], [2.0, 8.0, 6.0]]), SETTINGS, 0.95).iloc[0]
    # 2 of 8 at one bottleneck, 2 of 10 at the other.
    assert cell["long_share_percent"] == pytest.approx((25 + 20) / 2)
    # Both replications have the same share: one measurement repeated.
    assert cell[["long_share_percent_low", "long_share_percent_high"]].isna().all()
    assert (cell["long_goodput_mbps"], cell["cross_goodput_mbps"]) == (2, 7)
    assert cell["used_percent"] == pytest.approx(100 * (8 + 10) / 2 / 9.5)
    assert (cell["long_rtt_ms"], cell["cross_rtt_ms"]) == (200, 100)
    assert (cell["long_retransmit_percent"], cell["cross_retransmit_percent"]) == (2, 0.5)
    assert cell["queue_drop_percent"] == pytest.approx(1.5)
    assert (cell["long_flows"], cell["cross_flows"], cell["bottlenecks"], cell["n"]) == (1, 1, 2, 2)
    assert cell["proportional_percent"] == pytest.approx(100 / 3)
    assert cell["minimum_delay_percent"] == pytest.approx(100 / (1 + 2**0.5))
    # Half the cross flows' rate for twice their RTT, over sqrt(2); a quarter of it, over 2.
    assert cell["independent_percent"] == pytest.approx(100 / (1 + 2 * 2**0.5))
    assert cell["synchronised_percent"] == pytest.approx(100 / 9)
    assert cell["conditions"] == "1 long and 1 cross flow, 10 Mbit/s, drop-tail of 66 packets"


def test_retransmissions_that_were_not_counted_are_not_none():
    runs, flows, *rest = tables([[2.0, 6.0, 8.0], [2.0, 8.0, 6.0]])
    flows.loc[flows["flow"] == 1, "retransmits"] = np.nan
    cell = describe_chains(runs, flows, *rest, SETTINGS, 0.95).iloc[0]
    assert cell["long_retransmit_percent"] == 2 and np.isnan(cell["cross_retransmit_percent"])


def test_a_dumbbell_of_two_pairs_is_one_bottleneck():
    cell = describe_chains(*tables([[4.0, 5.0], [5.0, 4.0]], scenario=ONE), SETTINGS, 0.95).iloc[0]
    assert cell["bottlenecks"] == 1 and cell["long_share_percent"] == pytest.approx(50)
    assert cell["used_percent"] == pytest.approx(100 * 9 / 9.5)
    assert cell["proportional_percent"] == cell["minimum_delay_percent"] == 50
    assert cell["queue_drop_percent"] == pytest.approx(3)
    assert (cell["setting"], cell["conditions"]) == (1, "1 long and 1 cross flow, 10 Mbit/s, drop-tail of 66 packets")


@pytest.mark.parametrize(
    "other", [{"groups": "own, web"}, {"multipath": "mptcp"}, {"protocol": "udp"}, {"pairs": 3, "topology": "dumbbell"}]
)
def test_dumbbells_that_no_chain_resembles_are_left_out(other):
    """In one with groups, the second pair may carry web objects, calls or another CCA, and no long flow at all."""
    runs, flows, bottlenecks, scenarios = tables([[4.0, 5.0]], scenario=ONE | other)
    assert describe_chains(runs, flows[flows["pair"] == 1], bottlenecks, scenarios, SETTINGS, 0.95).empty


def test_scenarios_differ_if_long_and_cross_flows_exchange_their_delays():
    def common(delays_ms):
        scenario = {
            "id": "x", "topology": "chain", "chain": {"bottlenecks": 2, "cross_flows": 1}, "flows": 1,
            "link": {"rate_mbps": 10, "delay_ms": 10}, "hosts": {"access_delay_ms": delays_ms},
        }  # fmt: skip
        return in_common(resolve({"study": "s", "ccas": ["reno"], "scenarios": [scenario]}, "s.yaml")["scenarios"][0])

    assert common([0, 10, 10]) != common([10, 0, 0])
    assert common([5, 5, 5]) == common(5)


def test_theory_is_silent_where_it_does_not_apply():
    theory = ["proportional_percent", "minimum_delay_percent", "independent_percent", "synchronised_percent"]
    unlike = describe_chains(*tables([[2.0, 6.0, 8.0]], rates=(10.0, 5.0)), SETTINGS, 0.95).iloc[0]
    assert unlike[theory].isna().all() and unlike["long_share_percent"] > 0
    other = describe_chains(*tables([[2.0, 6.0, 8.0]], scenario=SCENARIO | {"cross_cca": "bbr"}), SETTINGS, 0.95)
    assert other.iloc[0][theory].isna().all()
    runs, *rest = tables([[2.0, 6.0, 8.0]])
    rest[0]["cca"] = rest[1]["cca"] = runs["cca"] = "cubic"
    cubic = describe_chains(runs, *rest, SETTINGS, 0.95).iloc[0]
    assert cubic[theory[:2]].notna().all() and cubic[theory[2:]].isna().all()


def test_an_invalid_run_counts_nowhere():
    runs, *rest = tables([[2.0, 6.0, 8.0], [9.0, 1.0, 1.0]])
    runs["valid"] = [True, False]
    cell = describe_chains(runs, *rest, SETTINGS, 0.95).iloc[0]
    assert cell["n"] == 1 and cell["long_share_percent"] == pytest.approx((25 + 20) / 2)
    runs["valid"] = False
    empty = describe_chains(runs, *rest, SETTINGS, 0.95).iloc[0]
    assert empty["n"] == 0 and np.isnan(empty["long_share_percent"])


def test_findings_say_how_shares_fall_and_what_theory_says():
    rows = pd.concat(
        [
            describe_chains(*tables([[4.5, 4.5]] * 2, scenario=ONE), SETTINGS, 0.95),
            describe_chains(*tables([[2.0, 6.0, 6.0]] * 2), SETTINGS, 0.95),
        ]
    )
    material = SimpleNamespace(tables=SimpleNamespace(chain_cells=rows), ranked=lambda cells: cells)
    (finding,) = findings(material)
    assert finding.text == (
        "Reno flows that cross all bottlenecks get 50.0 % with 1 bottleneck and 25.0 % with 2 bottlenecks (1 long and 1 cross flow, 10 Mbit/s, "
        "drop-tail of 66 packets); with 2, theory gives 11.1 % if an overflowing queue halves the windows of all its flows, and 26.1 % if packets are lost independently."
    )
    assert list(rows) == CHAIN_CELLS.names


def drawn_cells(goodputs, scenario=SCENARIO, **columns):
    """Return the cells of two replications with equal goodputs, over both IP versions."""
    cells = describe_chains(*tables([goodputs] * 2, scenario=scenario), SETTINGS, 0.95)
    return pd.concat([cells.assign(ip_version=version, **columns) for version in ("ipv4", "ipv6")], ignore_index=True)


def test_a_share_beyond_the_usual_axis_is_on_the_axis():
    """Many long flows may have nearly everything, measured or in theory."""
    for column in ("long_share_percent", "long_share_percent_high", "minimum_delay_percent"):
        (axes, *_) = plot_shares(drawn_cells([2.0, 6.0, 8.0], **{column: 97.0})).figure.axes
        assert 97 < axes.get_ylim()[1] < 110, column
    (axes, *_) = plot_shares(drawn_cells([2.0, 6.0, 8.0])).figure.axes
    assert axes.get_ylim()[1] == pytest.approx(63.6)


def test_the_theory_of_a_single_number_of_bottlenecks_is_drawn():
    (axes, *_) = plot_shares(drawn_cells([2.0, 6.0, 8.0])).figure.axes
    lines = {line.get_ydata()[0]: line for line in axes.lines if len(set(line.get_xdata())) == 2}
    assert sorted(lines) == pytest.approx([100 / 3, 100 / (1 + 2**0.5)])
    assert all(line.get_xdata()[1] - line.get_xdata()[0] > 0.8 for line in lines.values())


def test_panels_of_shares_name_what_distinguishes_them(tmp_path):
    """The ends of long titles are cut off."""
    same = "1 long and 1 cross flow, 10 Mbit/s, RTT 40 ms, no loss, Linux, drop-tail of 66 packets and more"
    cells = drawn_cells([2.0, 6.0, 8.0], conditions=same)
    other = cells.assign(setting=2, conditions=f"{same}, late")
    drawing = plot_shares(pd.concat([cells, other], ignore_index=True))
    assert len(drawing.panels) == 4 and drawing_alike(drawing, tmp_path) == []
    assert [one.description.partition("percent, ")[2][:30] for one in drawing.panels] == [
        "IPv4, 1 long and 1 cross flow,", "IPv6, 1 long and 1 cross flow,", "IPv4, late, 1 long and 1 cross", "IPv6, late, 1 long and 1 cross",
    ]  # fmt: skip
