"""Several paths against one: ratios, the paper's equations, shares."""

import math

import pandas as pd
import pytest
from scipy import stats

import path_studies
from run_tables.run_keys import CELL
from topics.multipath.compare_paths import aggregation, path_shares
from topics.multipath.equations import FAILS, HOLDS, OPEN, as_factors, equation_verdict, ratio
from topics.multipath.path_environments import environment_name, environments_of, joined_by, longer_words, with_paths


@pytest.fixture(scope="module")
def study():
    tables = path_studies.paths_study()
    return tables["runs"], with_paths(tables["scenarios"])


def test_environments_have_the_papers_names_and_per_flow_one_of_its_own():
    assert environment_name("gre", "ipv6", "ipv4") == "tun4_path6"
    assert environment_name("gre", "ipv4", "ipv6") == "tun6_path4"
    assert environment_name("mptcp", "ipv4", "ipv6") == "mptcp6"
    assert environment_name("none", None, "ipv4") == "baseline4"
    assert environment_name("gre", "ipv6", "ipv4", "per-flow") == "tun4_path6_per-flow"
    assert environment_name("mptcp", None, "ipv4", "per-flow") == "mptcp4"
    assert joined_by("gre", "ipv6", "per-flow") == "GRE over IPv6 per flow"
    ordered = ["tun4_path4", "tun4_path4_per-flow", "tun4_path6"]
    assert environments_of(["mptcp6", *reversed(ordered)]) == [*ordered, "mptcp6"]


@pytest.mark.parametrize(
    "changed",
    [
        {"rate_mbps": 1000}, {"segment_bytes": 536}, {"background": "server"}, {"topology": "dumbbell"},
        {"jitter_forward_ms": 1}, {"recovery": "reno"}, {"path_delay_ms": "5"}, {"queue": "50 packets"},
    ],
)  # fmt: skip
def test_single_path_of_other_conditions_is_no_baseline(changed):
    """This holds whether it is the only single path, the first or the last."""
    other = path_studies.scenario("other", **changed)
    same, joined = path_studies.scenario("tcp"), path_studies.scenario("mptcp-4", "mptcp", 4)
    alone = with_paths(pd.concat([other, joined], ignore_index=True)).set_index("scenario")
    assert alone.isna().loc["mptcp-4", "baseline"]
    assert alone.loc["mptcp-4", "baseline_note"] == "no single path under the same conditions to compare with"
    for rows in ([other, same, joined], [same, joined, other]):
        table = with_paths(pd.concat(rows, ignore_index=True)).set_index("scenario")
        assert table.loc["mptcp-4", "baseline"] == "tcp" and table.loc["other", "baseline"] == "other"


def test_single_path_has_the_delay_of_the_shortest_path():
    rows = [path_studies.scenario("tcp"), path_studies.scenario("tcp-late", path_delay_ms="5")]
    joined = {"even": "5 5", "first-late": "5 0", "both-late": "5 6", "even-0": "0 0", "no-single": "7 7"}
    rows += [path_studies.scenario(name, "mptcp", 2, path_delay_ms=delays) for name, delays in joined.items()]
    table = with_paths(pd.concat(rows, ignore_index=True)).set_index("scenario")
    baselines = table["baseline"][2:]
    assert baselines[:4].to_dict() == {
        "even": "tcp-late",
        "first-late": "tcp",
        "both-late": "tcp-late",
        "even-0": "tcp",
    }
    assert baselines.isna()["no-single"]
    assert list(table["even"][2:]) == [True, False, False, True, True]


def test_of_two_single_paths_alike_none_is_chosen():
    rows = [path_studies.scenario(name) for name in ("tcp", "again")] + [path_studies.scenario("gre-4", "gre", 4)]
    row = with_paths(pd.concat(rows, ignore_index=True)).iloc[-1]
    assert row["baseline"] is None
    assert row["baseline_note"] == "several single paths under the same conditions: tcp and again"


def test_conditions_are_named_where_they_differ(study):
    assert set(study[1]["conditions"]) == {""}
    rows = [path_studies.scenario("tcp"), path_studies.scenario("ftp", "mptcp", 4, application="ftp")]
    rows += [path_studies.scenario(f"q{size}", "gre", 4, queue=f"{size} packets") for size in (10, 50)]
    rows += [path_studies.scenario("slow", "gre", 4, path_delay_ms="5 5 5 5", queue="10 packets")]
    table = with_paths(pd.concat(rows, ignore_index=True)).set_index("scenario")
    assert table["conditions"].to_dict() == {
        "tcp": "queue 1000 packets, path delay 0 ms", "ftp": "", "q10": "queue 10 packets, path delay 0 ms",
        "q50": "queue 50 packets, path delay 0 ms", "slow": "queue 10 packets, path delay 5 ms",
    }  # fmt: skip
    # What nothing tells apart has its scenario's name.
    twice = pd.concat([path_studies.scenario(name, "gre", 4) for name in ("a", "b")], ignore_index=True)
    assert list(with_paths(twice)["conditions"]) == ["scenario a", "scenario b"]


@pytest.mark.parametrize(
    ("delays", "words"),
    [
        ("0 0 0 0.5", "path 4 takes 0.5 ms longer"),
        ("0.5 0 0 0", "path 1 takes 0.5 ms longer"),
        ("0 0 0.5 0.5", "paths 3 and 4 take 0.5 ms longer"),
        ("1 1.2 1.3 1.2", "paths 2 and 4 take 0.2 ms longer and path 3 takes 0.3 ms longer"),
        ("2 2", ""),
        ("0", ""),
    ],
)
def test_longer_paths_are_named(delays, words):
    assert longer_words(delays) == words


def test_ratio_has_welchs_interval_of_logarithms():
    first, second = pd.Series([4.0, 4.2, 3.9, 4.1, 4.05, 3.95]), pd.Series([1.0, 1.1, 1.05, 1.02, 1.07, 1.04])
    apart = ratio(first, second, (0.0, 0.0))
    value, low, high = as_factors(apart.effect, apart.interval(0.95))
    # scipy's own Welch test gives the same interval.
    logs = [values.map(math.log) for values in (first, second)]
    expected = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert (low, high) == pytest.approx((math.exp(expected.low), math.exp(expected.high)))
    assert value == pytest.approx(math.exp(logs[0].mean() - logs[1].mean()))
    assert ratio(first, pd.Series([], dtype=float), (0.0, 0.0)) is None


@pytest.mark.parametrize(
    ("factor", "low", "high", "verdict"),
    [
        (3.9, 3.85, 3.95, HOLDS),
        (4.0, 3.8, 4.2, HOLDS),
        (3.7, 3.6, 3.75, FAILS),
        (3.9, 3.7, 4.1, OPEN),
        (3.9, None, None, OPEN),
        (1.0, None, None, OPEN),
        (1.0, 0.9, 1.1, FAILS),
        (3.5, 3.0, 4.5, OPEN),
        (None, None, None, ""),
    ],
)
def test_equation_holds_within_five_percent(factor, low, high, verdict):
    assert equation_verdict(factor, low, high, 4) == verdict


def test_aggregation_is_the_ratio_to_the_single_path(study):
    table = aggregation(*study, 0.95).set_index(CELL)
    mptcp = table.loc[("mptcp-4", "cubic", "ipv4")]
    # Both use 99.5 % of their ceilings: the ratio is that of the ceilings, 4 x 1428/1448.
    assert mptcp["factor"] == pytest.approx(4 * 1428 / 1448)
    assert mptcp["ceiling_factor"] == pytest.approx(4 * 1428 / 1448)
    assert mptcp["equation"] == HOLDS and mptcp["n"] == 6
    assert mptcp["goodput_sd_percent"] == pytest.approx(100 * 1e-3 * math.sqrt(4 / 9 / 5), rel=0.01)
    assert table.loc[("gre-4", "vegas", "ipv6")]["equation"] == FAILS
    assert table.loc[("gre-4", "vegas", "ipv6")]["environment"] == "tun6_path4"
    assert pd.isna(table.loc[("tcp", "cubic", "ipv4")]["factor"])


def test_transfers_are_compared_by_their_time(study):
    row = aggregation(*study, 0.95).set_index(CELL).loc[("ftp-gre-4", "cubic", "ipv4")]
    # 50 MB over 0.995 x the ceilings of 95.64 and 370.41 Mbit/s.
    assert row["time_factor"] == pytest.approx(4 * (1448 - 46) / 1448)
    assert row["transfer_s"] == pytest.approx(50 * 8 / (0.995 * (1 - 1e-3 / 3) * 400 * 1402 / 1514), rel=1e-4)
    assert row["equation"] == HOLDS


def test_cells_without_a_valid_run_say_so(study):
    runs = study[0].assign(valid=study[0]["scenario"] != "tcp")
    table = aggregation(runs, study[1], 0.95).set_index(CELL)
    assert table.loc[("tcp", "cubic", "ipv4")]["note"] == "no valid run"
    row = table.loc[("mptcp-4", "cubic", "ipv4")]
    assert row["note"] == "no valid run over a single path to compare with" and row["equation"] == ""


def test_one_run_decides_nothing(study):
    runs, scenarios = study
    rows = aggregation(runs[runs["replication"] == 1], scenarios, 0.95)
    rows = rows[rows["factor"].notna()]
    assert set(rows["equation"]) == {OPEN} and set(rows["n"]) == {1}


def test_shares_are_of_valid_runs(study):
    runs, scenarios = study
    table = path_shares(path_studies.path_rows(runs), scenarios)
    cell = table.set_index(CELL).loc[("gre-4", "cubic", "ipv4")]
    assert list(cell["path"]) == [1, 2, 3, 4] and set(cell["n"]) == {6}
    assert list(cell["share_percent"]) == pytest.approx([25] * 4)
    assert list(cell["bytes"]) == pytest.approx(list(cell["packets"] * 1514))
    assert len(path_shares(path_studies.path_rows(runs.assign(valid=False)), scenarios)) == 0
