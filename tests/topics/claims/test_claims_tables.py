"""Tables printed by a paper: read as printed, or one sentence per mistake."""

import pytest

import claim_runs
from topics.claims import claims_file as claims

THRESHOLD = {"kind": "threshold", "pick": "mean", "requirement": {"above": 1}}
STATISTICS = "mean: 319, median: 80, mode: 997.8, sd: 390, w: 0.74, p: 7.7e-75"
TEST = {"u": 26470672.5, "p": 0.491, "conclusion": "H0"}
COLUMNS = "throughput_per_stream_mbps, rtt_first_stream_ms, published_loss_percent, retransmits"
# The paper's tables, and below them the message.
MISTAKES = """
    {table_3: {}, runs_per_ip_version: 10}
        paper.tables.table_3 is {}; allowed: a mapping with the keys $COLUMNS, remark.
    {table_3: {retransmits: {ipv4: {$STATISTICS}}}}
        paper.tables.runs_per_ip_version is missing; allowed: a whole number from 1 to 1000000000 (runs).
    {runs_per_ip_version: 7200.5}
        paper.tables.runs_per_ip_version is 7200.5; allowed: a whole number from 1 to 1000000000 (runs).
    {runs_per_ip_version: 10, table_4: {}}
        unknown key 'paper.tables.table_4'; did you mean 'table_5'? Allowed here: runs_per_ip_version, table_3, table_5.
    {runs_per_ip_version: 10, table_3: {throughput: {ipv4: {$STATISTICS}}}}
        unknown key 'paper.tables.table_3.throughput'; did you mean 'throughput_per_stream_mbps'? Allowed here: $COLUMNS, remark.
    {runs_per_ip_version: 10, table_3: {retransmits: {'6': {$STATISTICS}}}}
        unknown key 'paper.tables.table_3.retransmits.6'; did you mean 'ipv6'? Allowed here: ipv4, ipv6.
    {runs_per_ip_version: 10, table_3: {retransmits: {ipv4: {$STATISTICS, w: 1.2}}}}
        paper.tables.table_3.retransmits.ipv4.w is 1.2; allowed: a number from 0 to 1.
    {runs_per_ip_version: 10, table_3: {retransmits: {ipv4: {$STATISTICS, mean: about 319}}}}
        paper.tables.table_3.retransmits.ipv4.mean is "about 319"; allowed: a number from 0 to 1000000000.
    {runs_per_ip_version: 10, table_3: {retransmits: {ipv6: {$STATISTICS, sd: .nan}}}}
        paper.tables.table_3.retransmits.ipv6.sd is .nan; allowed: a number from 0 to 1000000000.
    {runs_per_ip_version: 10, table_5: {retransmits: {u: 5, p: 0.5}}}
        paper.tables.table_5.retransmits.conclusion is missing; allowed: one of H0, H1, H2.
    {runs_per_ip_version: 10, table_5: {retransmits: {u: 5, p: 0.5, conclusion: H_0}}}
        paper.tables.table_5.retransmits.conclusion is "H_0"; allowed: one of H0, H1, H2.
    {runs_per_ip_version: 10, table_5: {remark: 5}}
        paper.tables.table_5.remark is 5; allowed: text that doesn't begin with = + - or @ or white space, in quotes.
"""


@pytest.mark.parametrize(("tables", "message"), claim_runs.mistakes(MISTAKES, STATISTICS=STATISTICS, COLUMNS=COLUMNS))
def test_printed_tables_one_sentence_a_mistake(tmp_path, tables, message):
    what = claim_runs.content(THRESHOLD)
    what["paper"]["tables"] = tables
    assert claim_runs.problem(tmp_path, what) == message


def test_printed_tables_are_optional_and_so_are_their_parts(tmp_path):
    what = claim_runs.content(THRESHOLD)
    assert claim_runs.loaded(tmp_path, THRESHOLD)["paper"] == what["paper"] | {
        "source": "",
        "script": "",
        "statements": "in-our-words",
    }
    tables = {"runs_per_ip_version": 10, "table_5": {"retransmits": TEST}}
    what["paper"]["tables"] = tables
    read = claims.load_claims(claim_runs.written(tmp_path / "claims.yaml", what))["paper"]["tables"]
    assert read == tables | {"table_5": {"retransmits": TEST, "remark": ""}}


def test_shipped_tables_stand_as_printed(shipped):
    """Tables 3 and 5 of the paper, row by row; RTT is in microseconds there, in milliseconds here."""
    printed = """
        ipv4 throughput_per_stream_mbps 319 80 997,8 390 0,74 7,75830e-75
        ipv6 throughput_per_stream_mbps 319 82 997,8 390 0,738 6,55445e-75
        ipv4 rtt_first_stream_ms 107168 100446 100037 73302,4 0,798 8,42381e-70
        ipv6 rtt_first_stream_ms 107165 199482 20094 73324,3 0,798 8,75814e-70
        ipv4 published_loss_percent 1,2 0,74 0 2,9 0,343 3,47541e-96
        ipv6 published_loss_percent 1,2 0,74 0 2,9 0,348 4,93265e-96
        ipv4 retransmits 15376 274 0 43242,8 0,403 7,66454e-94
        ipv6 retransmits 16239 275 0 45994,1 0,4 5,56768e-94
    """
    tables = shipped["paper"]["tables"]
    for line in printed.split("\n")[1:-1]:
        ip_version, quantity, *texts = line.replace(",", ".").split()
        values = dict(zip(("mean", "median", "mode", "sd", "w", "p"), map(float, texts), strict=True))
        if quantity == "rtt_first_stream_ms":
            values |= {key: values[key] / 1000 for key in ("mean", "median", "mode", "sd")}
        assert tables["table_3"][quantity][ip_version] == pytest.approx(values, rel=1e-12), line
    assert {name: row["u"] for name, row in tables["table_5"].items() if name != "remark"} == {
        "throughput_per_stream_mbps": 26771453, "rtt_first_stream_ms": 27022599,
        "published_loss_percent": 26470672.5, "retransmits": 26479749,
    }  # fmt: skip
    assert [row["p"] for name, row in tables["table_5"].items() if name != "remark"] == [0.619, 0.138, 0.491, 0.514]
    design = len(shipped["scenarios"]) * len(shipped["ccas"]) * 100
    assert tables["runs_per_ip_version"] == design == 7200
    assert "199,482" in tables["table_3"]["remark"]
    assert "7,300" in tables["table_5"]["remark"]
