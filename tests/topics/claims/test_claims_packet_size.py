"""The claims on message sizes: they quote the paper, agree with its own numbers, and find their scenarios."""

import math
import re

import pytest
import yaml

import claim_runs
import size_studies
import tidy_tables
from run_tables.reading import read_table
from run_tables.scenario_table import SCENARIOS
from run_tables.tidy_tables import RUNS
from topics.claims import claims_file as claims
from topics.claims.claim_measures import meets_requirement
from topics.claims.claim_scenarios import match_scenarios, scenario_conditions

NAME = "config/claims/windows-packet-size.yaml"


@pytest.fixture(scope="module")
def file(request):
    return claims.load_claims(request.config.rootpath / NAME)


def test_printed_values_lie_in_what_is_allowed(file):
    thresholds = [claim for claim in file["claims"] if claim["kind"] == "threshold"]
    assert len(thresholds) == 18
    for claim in thresholds:
        printed = float(claim["published"].split()[0])
        assert meets_requirement([printed], claim["requirement"]).all(), claim["id"]


def printed_cell(file, claim, side):
    """Return the printed mean and standard deviation of the single cell on one side of a claim."""
    scenario = next(s for s in file["scenarios"] if [s["id"]] == claim[side]["scenarios"])
    (ip_version,), cells = claim[side]["ip_versions"], file["paper"]["cells"]
    place = cells["message_bytes"].index(scenario["message_bytes"][0])
    wanted = {"quantity": claim["quantity"], "ip_version": ip_version}
    wanted |= {key: scenario[key][0] for key in ("protocol", "background")}
    entry = next(e for e in cells["values"] if wanted.items() <= {key: e[key] for key in wanted}.items())
    return entry["mean"][place], entry["sd"][place]


def test_tolerances_are_not_below_the_papers_own_error(file):
    """A perfect rerun of a printed difference deviates by the root of two standard errors, which must be allowed in 95 %."""
    replications = {}
    for claim in file["claims"]:
        if claim["kind"] != "ratio" or claim["untestable"] or claim["published"].count("against") != 1:
            continue
        (one, sd), (base, base_sd) = (printed_cell(file, claim, side) for side in ("numerator", "denominator"))
        error = one / base * math.hypot(sd / one, base_sd / base) / math.sqrt(file["paper"]["cells"]["runs"])
        requirement = claim["requirement"]
        if "replicates" in requirement:
            replications[claim["id"]] = requirement
            assert requirement["replicates"] == pytest.approx(one / base, abs=6e-5), claim["id"]
            assert requirement["standard_error"] == pytest.approx(error, abs=6e-5), claim["id"]
        else:
            assert 1.96 * math.sqrt(2) * error <= 0.01, (claim["id"], error)
    assert len(replications) == 5


def test_what_the_paper_is_said_to_print_stands_in_it(file):
    """The numbers are those of its quoted text or of its cells."""
    numbers = re.compile(r"\d+(?:\.\d+)?")
    quoted = {number for claim in file["claims"] for number in numbers.findall(claim["statement"])}
    printed = {f"{mean:g}" for entry in file["paper"]["cells"]["values"] for mean in entry["mean"] if mean}
    sizes = {str(size) for size in file["paper"]["cells"]["message_bytes"]}
    for claim in file["claims"]:
        words = claim["published"].replace("IPv4", "").replace("IPv6", "")
        assert set(numbers.findall(words)) <= quoted | printed | sizes, claim["id"]


def test_growth_with_each_size_is_tested_from_each_size_to_the_next(file):
    sizes = [str(size) for size in file["paper"]["cells"]["message_bytes"]]
    growing = [claim for claim in file["claims"] if claim["published"] == "a gain with each size"]
    assert len(growing) == 4
    for claim in growing:
        later, before = (
            [name.rsplit("-", 1)[1] for name in claim[side]["scenarios"]] for side in ("numerator", "denominator")
        )
        assert (later, before) == (sizes[1:], sizes[:-1])
        assert set(claim["each"]) == {"scenario", "ip_version"} and claim["combine"] == "lowest"
    # Figures that grow overall and fall once, as a kernel's round trips do, don't grow with each size.
    assert not meets_requirement([77.6 / 81.4], growing[0]["requirement"]).any()


def test_each_highest_difference_is_tested_where_the_paper_sees_it(file):
    highest = [claim for claim in file["claims"] if claim["kind"] == "largest_difference"]
    maximum = re.compile(r"maximum|highest (point of )?difference")
    maxima = [claim for claim in file["claims"] if maximum.search(claim["statement"])]
    # What shrinks with size is largest at the smallest, which the sentence doesn't name.
    highest = [claim for claim in highest if claim["id"] != "udp-rtt-margin-shrinks"]
    stated = {(claim["statement"], int(claim["at"].rsplit("-", 1)[1])) for claim in highest}
    # Two claims without a size: that differences are insignificant but for the highest.
    rest = {claim["id"] for claim in maxima if claim["statement"] not in {statement for statement, _ in stated}}
    assert rest == {"udp-insignificant-p2p", "udp-insignificant-cs"}
    for statement, size in stated:
        assert re.search(rf"\b{size} ?bytes", statement), statement
    # What the text prints of one IP version against the other in TCP, peer to peer.
    assert meets_requirement([(87.48 - 85.27) / (74.1 - 71.96)], highest[0]["requirement"]).all()


def test_printed_cells_are_as_many_as_the_sizes(file):
    cells = file["paper"]["cells"]
    assert len(cells["values"]) == 16
    for entry in cells["values"]:
        assert len(entry["mean"]) == len(entry["sd"]) == len(cells["message_bytes"]) == 6
        assert None not in entry["sd"]
    known = {(e["quantity"], e["protocol"], e["background"], e["ip_version"]): e for e in cells["values"]}
    assert known["goodput_mbps", "tcp", "none", "ipv4"]["sd"] == [1.97, 1.35, 1.13, 0.99, 0.81, 0.79]
    assert known["rtt_mean_ms", "udp", "server", "ipv6"]["sd"] == [0.04, 0, 0.51, 0.05, 0.05, 0.09]


def test_other_numbers_of_values_than_sizes_are_refused(file, tmp_path):
    text = yaml.safe_load((claims.SCHEMA_PATH.parents[2] / NAME).read_text(encoding="utf-8"))
    text["paper"]["cells"]["values"][0]["sd"].append(1)
    message = "paper.cells.values[0].sd has 7 values; allowed: 6, one for each of message_bytes."
    assert claim_runs.problem(tmp_path, text) == message


def test_scenarios_are_found_by_traffic_size_and_environment(file, tmp_path):
    tidy = tidy_tables.write_tidy(size_studies.sizes_study(replications=2), tmp_path)
    runs, scenarios = read_table(tidy / "runs.csv", RUNS), read_table(tidy / "scenarios.csv", SCENARIOS)
    matches, missing = match_scenarios(scenario_conditions(runs, scenarios), file["scenarios"])
    assert missing == {}
    assert matches["p2p-tcp-128"] == "p2p-tcp-128" and matches["cs-udp-rtt-1408"] == "cs-udp-rtt-1408"
    assert len(set(matches.values())) == len(matches) == 48
