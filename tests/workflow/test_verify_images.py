"""Verifying results of another image: the image and the remedy are named, and only the other runs are repeated."""

import json
from dataclasses import replace
from types import SimpleNamespace

from publishing.result_checks.account import Account
from publishing.result_checks.received_documents import ReceivedDocument
from publishing.result_checks.repeated_runs import check_needs
from received_results import NAME, OTHER, renew_manifest, rewrite


def test_simulated_runs_need_an_image_that_set_up_makes_on_request(capsys):
    theirs, ours = ("image of ns-3", "program of ns-3"), ("image", "program")
    simulated, measured = (
        ReceivedDocument("a/reno/ipv4/1", made_by=theirs, platform=platform) for platform in ("ns3", "uml")
    )
    study, remedies = (
        SimpleNamespace(commit=None),
        ("make setup NS3=1", "ask the authors of the results for the commit"),
    )
    for documents, platforms, expected in (
        ([simulated], {"testbed": ours}, remedies[:1]),
        ([simulated], {"testbed": ours, "ns3": ("other", "other")}, remedies[1:]),
        ([replace(simulated, made_by=("", "")), measured], {"testbed": ours}, remedies),
        ([measured], {"testbed": ours}, remedies[1:]),
    ):
        assert check_needs(documents, platforms, study, Account()) == {}
        output = capsys.readouterr().out
        assert tuple(remedy for remedy in remedies if remedy in output) == expected


def made_elsewhere(document):
    document["environment"]["image_digest"] = f"sha256:{'7' * 64}"


def test_another_image_is_named_and_its_runs_are_not_repeated(verify, received):
    names = [str(path.relative_to(received / "runs")).removesuffix(".json.gz") for path in received.rglob("*.json.gz")]
    for name in names:
        rewrite(received, made_elsewhere, name)
    provenance = received / "tidy/provenance.json"
    content = json.loads(provenance.read_text())
    content["workflow"]["commit"] = "c0ffee" + "0" * 34
    provenance.write_text(json.dumps(content))
    renew_manifest(received)
    status, output = verify(received, "--count", "2")
    assert status == 3, output
    assert "16 of 16 documents need a testbed other than the one here" in output
    assert f"testbed image sha256:{'7' * 64}" in output
    assert f"`git checkout c0ffee{'0' * 34}`, `make setup`" in output
    assert "same bytes" not in output and "DIFFERENT" not in output


def test_where_some_runs_need_another_image_the_others_are_repeated(verify, received):
    rewrite(received, made_elsewhere)
    status, output = verify(received, "--runs", NAME, OTHER)
    assert status == 3, output
    assert "1 of 16 documents need a testbed other than the one here" in output
    assert "1 of 2 named runs" in output
    assert output.count("same bytes") == 1
