"""The report of a study of several paths: its section and figures, and nothing specific to a single path."""

from types import SimpleNamespace

import pandas as pd
import pytest

import path_studies
from built_study import Built
from figure_parts.cca_slots import by_slot, draw_groups
from page_checks import PageParts, check_page, page_text
from run_tables.reading import read_table
from topics.multipath import (
    plot_aggregation,
    plot_cpu_time,
    plot_cpu_use,
    plot_environments,
    plot_path_shares,
    plot_transfer_rate,
)
from topics.multipath.compare_paths import aggregation, path_shares
from topics.multipath.path_environments import with_paths
from topics.multipath.section import findings
from topics.multipath.sentences import (
    aggregation_words,
    baseline_words,
    by_joining,
    recovery_words,
    same_words,
    uneven_words,
    unlike_paths_words,
)
from topics.multipath.tables import AGGREGATION, PATH_SHARES

pytestmark = pytest.mark.slow

#: Whether each of four panels has the changed values and the conditions of these.
BOTH_OR_NONE = [(False, False)] * 2 + [(True, True)] * 2
FIGURES = {"environments", "aggregation", "path-shares"}


@pytest.fixture(scope="module")
def virtual(tmp_path_factory):
    return Built(tmp_path_factory.mktemp("virtual")).build(path_studies.paths_study())


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    return Built(tmp_path_factory.mktemp("real")).build(path_studies.paths_study("host", ("cubic", "reno")))


@pytest.fixture(params=["virtual", pytest.param("real", marks=pytest.mark.long)])
def built(request):
    return request.getfixturevalue(request.param)


def test_page_is_sound(built, visit):
    check_page(built.page, visit)


def test_what_belongs_to_one_path_is_left_out(built):
    made = {path.stem for path in (built.folder / "figures").glob("*.svg")}
    assert made >= {*FIGURES, "knee"}
    assert not {"models", "regressions", "phases"} & {path.stem for path in (built.folder / "analysis").iterdir()}
    assert not {"theory", "time-series"} & set(PageParts.of(built.page).ids)


def test_each_study_has_the_figures_of_what_it_recorded(virtual, real):
    figures = [{path.stem for path in (built.folder / "figures").glob("*.svg")} for built in (virtual, real)]
    assert {"transfer-rate-cubic", "transfer-rate-vegas"} <= figures[0] - figures[1]
    assert {"cpu-use", "cpu-time-cubic"} <= figures[1] - figures[0]


def test_findings_have_the_numbers(virtual, real):
    text = page_text(virtual.page)
    # 4 x 100 x 1428/1514 x 0.995, and a third of a thousandth less on average; IPv6: 1408.
    mptcp = [0.995 * (1 - 1e-3 / 3) * 400 * payload / 1514 for payload in (1408, 1428)]
    assert f"{mptcp[0]:.1f} to {mptcp[1]:.1f} Mbit/s with MPTCP" in text
    assert "lowest: Vegas in tun6_path6" in text
    assert "Where path 4 takes 0.5 ms longer each way, MPTCP gives" in text
    # Cells without a tunnel have plain TCP's 1448 and 1428; at most 66 of 1428.
    assert "because headers alone take up to 4.6 % of plain TCP's goodput" in text
    assert "n paths: n times the rate, an n-th of the time?" in text
    # 6 runs of each of 3 CCAs, 2 IP versions and 3 scenarios with 2 or 4 even paths; of the uneven all stay low.
    assert "in round robin, 648 of 756 recoveries were undone" in text
    low = "6 of 6 cells stay below half of the ceiling: there, 216 of 252 recoveries were undone, cwnd was 2.5 packets"
    assert f"Over paths that differ, {low} at the readings" in text
    assert "On the wire, MB" in text and "Transfer, s" in text and "Transfer, s" not in page_text(real.page)
    # 5 and 8 for each path, and 0.2 times the number of the replication: 0.7 on average of six.
    assert "with MPTCP 13.7 % over 1 path and 37.7 % over 4 paths" in page_text(real.page)


def test_link_rate_in_the_figure_of_goodput_is_that_of_all_paths(virtual):
    svg = virtual.figure("goodput").read_text()
    assert "400" in svg and "capacity of the path" in svg


def test_transfer_rates_add_up_the_subflows(virtual):
    data = pd.read_csv(virtual.data("transfer-rate-cubic"))
    mptcp = data[data["environment"] == "mptcp4"]
    goodput = 0.995 * 400 * 1428 / 1514
    assert mptcp["acked_mbps"].to_numpy() == pytest.approx(goodput, rel=1e-3)
    single = data.loc[data["environment"] == "baseline4", "acked_mbps"]
    assert single.median() == pytest.approx(0.995 * 100 * 1448 / 1514, rel=1e-3)


def test_valid_runs_without_goodput_are_told_from_invalid_ones():
    def said(runs):
        table = pd.DataFrame({"by": ["none", "gre"], "goodput_mbps": [10.0, None], "n": [3, runs]})
        (finding,) = findings(SimpleNamespace(tables=SimpleNamespace(aggregation=table)))
        return finding.text

    assert said(3) == "No valid run over aggregated paths has a goodput, so there are no results for these paths."
    assert said(0) == "No run over aggregated paths is valid, so there are no results for these paths."


def test_a_study_without_a_valid_run_says_so(tmp_path):
    few = path_studies.scenarios().query("scenario in ['tcp', 'mptcp-4', 'gre-4']")
    built = Built(tmp_path).build(path_studies.paths_study(ccas=["cubic"], invalid_share=1, table=few))
    assert "No run over aggregated paths is valid" in page_text(built.page)
    assert "No valid run." in built.figure("path-shares").read_text()


def test_paths_without_a_rate_limit_have_findings_and_panels():
    """On the machine's own kernel, MPTCP over paths that only the processor limits: they aren't runs without a valid one."""
    row = {
        "by": "mptcp", "distribution": "round-robin", "joined": "MPTCP", "application": "iperf3", "rate_mbps": float("nan"), "platform": "host",
        "conditions": "", "cca": "reno", "environment": "mptcp4", "ceiling_percent": float("nan"), "even": True,
    }  # fmt: skip
    even = pd.DataFrame([row | {"paths": paths, "goodput_mbps": 8000.0 * paths} for paths in (2, 4)])
    assert (
        aggregation_words(even[1:])
        == "4 paths without a rate limit give 32,000.0 Mbit/s with MPTCP (lowest: Reno in mptcp4)."
    )
    assert len(plot_aggregation.shown_rows(even)) == 2
    groups = []
    draw_groups("Goodput", even, ["rate_mbps", "paths"], lambda drawn, ccas, rows: groups.append(rows))
    assert [len(rows) for rows in groups] == [1, 1]


def tables_of(rows, folder, ccas=("cubic", "reno"), platform="uml"):
    """Return aggregation and shares of a study of some scenarios, as figures and report read them."""
    study = path_studies.paths_study(platform, ccas, table=pd.concat(rows, ignore_index=True))
    scenarios = with_paths(study["scenarios"])
    aggregation(study["runs"], scenarios, 0.95).to_csv(folder / "aggregation.csv", index=False)
    path_shares(path_studies.path_rows(study["runs"]), scenarios).to_csv(folder / "shares.csv", index=False)
    return read_table(folder / "aggregation.csv", AGGREGATION), read_table(folder / "shares.csv", PATH_SHARES)


def tunnels(**more):
    """Return scenarios with tunnels over 2 and 4 paths, with further columns, and their single path."""
    end = "".join(str(value).replace(" ", "-") for value in more.values())
    single = {key: value for key, value in more.items() if key != "distribution"}
    rows = [path_studies.scenario(f"gre-{paths}{end}", "gre", paths, **more) for paths in (2, 4)]
    return [path_studies.scenario(f"tcp{end}", **single), *rows]


def described(figure):
    return [panel.description for panel in figure.panels]


def test_per_flow_has_marks_and_words_of_its_own(tmp_path):
    per_flow = tunnels(distribution="per-flow")[1:]
    table, shares = tables_of([*tunnels(), *per_flow], tmp_path)
    shown = plot_environments.shown_rows(table)
    first, second = described(plot_environments.draw_environments(shown))
    assert "tun4 path4: CUBIC" in first and "tun4 path4 per-flow: CUBIC" in second
    texts = described(plot_aggregation.draw_aggregation(plot_aggregation.shown_rows(table)))
    assert [sum(name in text for text in texts) for name in ("GRE over IPv4 per flow (", "GRE over IPv4 (")] == [2, 2]
    assert len(described(plot_path_shares.draw_path_shares(plot_path_shares.shown_rows(shares)))) == 4
    assert [name for name, _ in by_joining(table)] == ["GRE-in-UDP in round robin", "GRE-in-UDP per flow"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"queue": "50 packets"}, "queue 50 packets"),
        ({"segment_bytes": 536}, "segment 536 bytes"),
        ({"delay_forward_ms": 20}, "delay forward 20 ms"),
    ],
)
def test_other_conditions_have_panels_of_their_own(tmp_path, more, words):
    table, _ = tables_of([*tunnels(), *tunnels(**more)], tmp_path)
    texts = described(plot_environments.draw_environments(plot_environments.shown_rows(table)))
    assert len(texts) == 2 and words in texts[1] and words not in texts[0]
    texts = described(plot_aggregation.draw_aggregation(plot_aggregation.shown_rows(table)))
    assert len(texts) == 4 and sum(words in text for text in texts) == 2


def test_cpu_use_is_drawn_beside_its_own_single_path(tmp_path):
    rows = [*tunnels(platform="host"), *tunnels(platform="host", queue="50 packets")]
    table, _ = tables_of(rows, tmp_path, platform="host")
    table.loc[table["scenario"] == "tcphost50-packets", "cpu_busy_percent"] = 99
    texts = described(plot_cpu_use.draw_cpu_use(plot_cpu_use.shown_rows(table)))
    assert len(texts) == 8
    assert ["TCP: CUBIC 99" in text for text in texts if text.startswith("Busy")] == [False, False, True, True]


def with_queues(folder, write, **more):
    """Return runs and scenarios of tunnels with two queues, as figures over time read them, and their time series."""
    rows = pd.concat([*tunnels(**more), *tunnels(**more, queue="50 packets")], ignore_index=True)
    study = path_studies.paths_study(more.get("platform", "uml"), ("cubic",), table=rows)
    write(study["runs"], folder / "series.parquet")
    return study["runs"], with_paths(study["scenarios"]), folder / "series.parquet"


def test_transfers_are_drawn_with_their_own_single_path(tmp_path):
    runs, scenarios, path = with_queues(tmp_path, path_studies.write_series, application="ftp")
    shown = plot_transfer_rate.shown_runs(runs, scenarios, "cubic")
    rates = plot_transfer_rate.rates_of(shown, path)
    rates.loc[rates["scenario"] == "tcpftp50-packets", "acked_mbps"] = 7.0
    texts = described(plot_transfer_rate.draw_transfer_rate(rates, shown, "cubic"))
    assert sorted(("median 7.0" in text, "queue 50 packets" in text) for text in texts) == BOTH_OR_NONE


def test_cores_are_drawn_over_time_with_their_own_single_path(tmp_path):
    runs, scenarios, path = with_queues(tmp_path, path_studies.write_cpu, platform="host")
    busy = plot_cpu_time.busy_of(plot_cpu_time.shown_runs(runs, scenarios, "cubic"), path)
    busy.loc[busy["scenario"] == "tcphost50-packets", "busy_percent"] = 99.0
    texts = described(plot_cpu_time.draw_cpu_time(busy, "cubic"))
    assert sorted(("1 path: mean 99.0 %" in text, "queue 50 packets" in text) for text in texts) == BOTH_OR_NONE


def test_marks_never_cover_each_other():
    table = pd.DataFrame({"scenario": ["a", "b"], "cca": ["reno", "reno"], "paths": [2, 2]})
    with pytest.raises(ValueError, match="scenarios a and b with reno have the same place in a panel"):
        by_slot(table, lambda row: row["paths"])
    assert len(by_slot(table, lambda row: row["scenario"])) == 2


def test_longer_paths_are_named_wherever_they_stand(tmp_path):
    delays = {"first": "0.5 0 0 0", "last": "0 0 1 1"}
    rows = [path_studies.scenario(name, "mptcp", 4, path_delay_ms=text) for name, text in delays.items()]
    table, shares = tables_of([*rows, path_studies.scenario("tcp")], tmp_path)
    text = uneven_words(table[table["by"] != "none"])
    assert "Where path 1 takes 0.5 ms longer each way, MPTCP gives" in text
    assert "Where paths 3 and 4 take 1 ms longer each way, MPTCP gives" in text
    texts = described(plot_path_shares.draw_path_shares(plot_path_shares.shown_rows(shares)))
    assert "path 1 takes 0.5 ms longer" in texts[0] and "paths 3 and 4 take 1 ms longer" in texts[2]


def test_paths_that_differ_are_compared_with_the_better_one_and_the_sum(tmp_path):
    alone = [
        path_studies.scenario("fast", delay_forward_ms=0.1),
        path_studies.scenario("slow", rate_mbps=50, delay_forward_ms=1.1, delay_reverse_ms=1.1),
    ]
    both = path_studies.scenario("both", "mptcp", 2, uneven=1, rate_mbps=50, path_rate_mbps="100 50")
    table, _ = tables_of([*alone, both], tmp_path)
    row = table[(table["scenario"] == "both") & (table["cca"] == "cubic") & (table["ip_version"] == "ipv4")].iloc[0]
    goodput = table.set_index(["scenario", "cca", "ip_version"])["goodput_mbps"]
    fast, slow = (goodput[name, "cubic", "ipv4"] for name in ("fast", "slow"))
    assert row["best_path"] == 1 and row["best_mbps"] == fast and row["sum_mbps"] == pytest.approx(fast + slow)
    assert row["best_factor"] == pytest.approx(row["goodput_mbps"] / fast, rel=1e-3)
    assert row["sum_factor_low"] < row["goodput_mbps"] / (fast + slow) < row["sum_factor_high"]
    assert not row["even"] and row["unlike"] == "100 / 50 Mbit/s" and pd.isna(row["factor"])
    text = unlike_paths_words(table[table["by"] != "none"])
    assert (
        text.startswith("both: MPTCP gives ")
        and "times the sum of both." in text
        and uneven_words(table[table["by"] != "none"]) == ""
    )


def test_scenarios_without_a_single_path_are_named(tmp_path):
    table, _ = tables_of([*tunnels(), path_studies.scenario("lone", "gre", 4, queue="50 packets")], tmp_path)
    why = "no single path under the same conditions to compare with"
    assert baseline_words(table[table["by"] != "none"]) == f"lone: {why}."


def test_recoveries_that_stay_are_told_from_those_undone(tmp_path):
    rows = [*tunnels(), path_studies.scenario("late", "gre", 4, uneven=0.5)]
    table, _ = tables_of(rows, tmp_path, ccas=("cubic", "bbr"))
    late = table["scenario"] == "late"
    table.loc[late & (table["cca"] == "bbr"), "ceiling_percent"] = 99
    table.loc[late, "recoveries_undone"] = 0
    table = table.assign(retransmits=2.0, packets_sent=20000.0)
    text = recovery_words(table[table["by"] != "none"])
    # 2 scenarios, 2 CCAs, 2 IP versions, 6 runs.
    assert "in round robin, 288 of 336 recoveries were undone." in text
    assert "2 of 4 cells stay below half of the ceiling: there, 0 of 84 recoveries were undone" in text
    assert "and 2 of 20,000 segments were retransmitted per run. In the other 2 cells, cwnd was" in text
    assert recovery_words(table[(table["by"] != "none") & (table["recoveries"] == 0)]) == ""


def test_ccas_that_agree_in_every_digit_are_named():
    cell = {"n": 3, "rtt_mean_ms": 1.5, "packets_sent": 1000.0, "queue_drops": 0.0}
    rows = [
        {"scenario": scenario, "ip_version": "ipv4", "cca": cca, "goodput_mbps": goodput} | cell
        for scenario in ("a", "b", "c")
        for cca, goodput in (("reno", 94.5), ("veno", 94.5 if scenario != "c" else 94.6), ("cubic", 94.5 + 1e-9))
    ]
    table = pd.DataFrame(rows)
    text = same_words(table, ())
    assert "to the last digit for Reno and Veno in 2 of 3 cells." in text and "CUBIC" not in text
    assert "No queue dropped a packet there" in text
    assert "No queue" not in same_words(table.assign(queue_drops=4.0), ())
    assert "No queue" not in same_words(table, {"b"}) and "No queue" in same_words(table, {"c"})
    assert same_words(table[table["scenario"] == "c"], ()) == ""
    assert same_words(table[table["cca"] == "reno"], ()) == ""
