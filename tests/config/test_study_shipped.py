"""The studies that come with the repository."""

from study_files import study

PAPER_TABLE_2 = [
    (delay_ms, loss_percent, flows) for flows in (1, 12) for loss_percent in (1, 0) for delay_ms in (10, 50, 100)
]


def resolved(root, name):
    """Return a shipped study, resolved."""
    path = root / "config" / name
    return study.resolve(study.load(path), str(path))


def without(section, *keys):
    """Return a section without some of its keys."""
    return {key: value for key, value in section.items() if key not in keys}


def conditions(scenario):
    """Return the conditions of a scenario that the paper's table 2 lists."""
    link = scenario["link"]
    return link["delay_ms"]["forward"], link["loss_percent"]["forward"], scenario["flows"]


def test_the_default_study_has_the_papers_factors(root):
    default = resolved(root, "config.yaml")
    assert default["study"] == "ipv4-ipv6"
    assert default["ccas"] == ["reno", "cubic", "bbr", "vegas", "veno", "westwood"]
    assert default["ip_versions"] == ["ipv4", "ipv6"]
    assert [conditions(scenario) for scenario in default["scenarios"]] == PAPER_TABLE_2
    assert [scenario["label"] for scenario in default["scenarios"]] == [str(number) for number in range(1, 13)]
    for scenario in default["scenarios"]:
        assert scenario["link"]["rate_mbps"] == 1000
        assert scenario["link"]["delay_ms"]["reverse"] == scenario["link"]["delay_ms"]["forward"]
        assert scenario["link"]["loss_percent"]["reverse"] == 0
        assert scenario["transport"]["segmentation_offload"] is False


def test_the_full_study_is_the_default_one_but_for_size(root):
    default, full = resolved(root, "config.yaml"), resolved(root, "studies/ipv4-ipv6-full.yaml")
    assert full["replications"] == 100
    assert {scenario["traffic"]["duration_s"] for scenario in full["scenarios"]} == {30}
    assert len(list(study.runs(full))) == 14_400
    for scenario in (*default["scenarios"], *full["scenarios"]):
        del scenario["traffic"]["duration_s"]
    size = ("study", "title", "description", "replications")
    assert without(full, *size) == without(default, *size)


def test_the_full_multipath_study_is_the_default_one_but_for_size_and_more_scenarios(root):
    default, full = (resolved(root, f"studies/{name}.yaml") for name in ("multipath", "multipath-full"))
    assert full["replications"] == 10
    size = ("study", "title", "replications", "scenarios")
    assert without(full, *size) == without(default, *size)
    scenarios = {scenario["id"]: scenario for scenario in full["scenarios"]}
    for scenario in default["scenarios"]:
        of_full = scenarios[scenario["id"]]
        assert (of_full["traffic"]["duration_s"], of_full["traffic"]["file_bytes"]) == (30, 1_000_000_000)
        for either in (scenario, of_full):
            either["traffic"] = without(either["traffic"], "duration_s", "file_bytes", "sample_interval_ms")
        assert of_full == scenario
    # The paper's outlook.
    assert {s["link"]["rate_mbps"] for s in scenarios.values() if s["id"].startswith("1gbit")} == {1000}


def test_studies_of_cpu_time_are_held_under_a_real_clock(root):
    for name in ("multipath-cpu", "multipath-cpu-gre"):
        study_of_cpu = resolved(root, f"studies/{name}.yaml")
        assert {scenario["platform"] for scenario in study_of_cpu["scenarios"]} == {"host"}
    # GRE has a separate study, since many kernels lack it.
    common = resolved(root, "studies/multipath-cpu.yaml")
    assert {scenario["multipath"]["by"] for scenario in common["scenarios"]} == {"none", "mptcp"}
    assert set(common["ccas"]) <= {"cubic", "reno", "bbr"}


def test_exbench_is_the_default_study_by_the_published_scripts_method(root):
    default, exbench = resolved(root, "config.yaml"), resolved(root, "studies/exbench.yaml")
    scenarios, refused = exbench["scenarios"][:12], exbench["scenarios"][12:]
    for ours, theirs in zip(default["scenarios"], scenarios, strict=True):
        loss_percent = ours["link"]["loss_percent"]["forward"]
        ours["link"] |= {"rate_mbps": None, "netem": "both-ends"}
        ours["link"]["loss_percent"] = {"forward": loss_percent, "reverse": loss_percent}
        ours["queue"] = {"packets": 1000}
        ours["traffic"] |= {"processes": "single", "bitrate_mbps": 1000}
        # The script leaves receive buffers to the kernel.
        ours["transport"] |= {"segmentation_offload": True, "cca_set_by": "sysctl", "receive_buffer_autotuning": True}
        assert theirs == ours
    by_id = {scenario["id"]: scenario for scenario in scenarios}
    assert len(refused) == 2
    for scenario in refused:
        # It differs from another in nothing but its name and what is refused.
        assert scenario["transport"].pop("restricted_ccas") == "refused"
        twin = by_id[scenario["id"].removesuffix("-refused")]
        assert twin["transport"].pop("restricted_ccas") == "allowed"
        assert scenario == twin | {"id": scenario["id"], "label": f"{twin['label']} refused"}
    for key in ("seed", "replications", "ccas", "ip_versions"):
        assert exbench[key] == default[key]


def test_smoke_is_small_and_tells_reno_from_vegas(root):
    smoke = resolved(root, "studies/smoke.yaml")
    assert smoke["ccas"] == ["reno", "vegas"]
    assert len(list(study.runs(smoke))) == 2 * 2 * 2 * 2
    quiet = smoke["scenarios"][0]
    assert quiet["flows"] == 1
    assert quiet["link"]["loss_percent"] == {"forward": 0, "reverse": 0}


def test_a_study_file_is_named_as_its_study(root):
    for path in (root / "config" / "studies").rglob("*.yaml"):
        assert study.load(path)["study"] == path.stem


def test_calibration_spans_what_the_readme_says(root):
    calibration = resolved(root, "studies/calibration.yaml")
    links = [scenario["link"] for scenario in calibration["scenarios"]]
    assert len(links) == 38
    assert (min(link["rate_mbps"] for link in links), max(link["rate_mbps"] for link in links)) == (0.01, 10_000)
    assert {0, 1000} <= {link["delay_ms"]["forward"] for link in links}
    assert any(link["loss_percent"]["reverse"] for link in links) and any(
        link["jitter_ms"]["forward"] for link in links
    )
    # Frames of one size: what iperf3 writes at a time is whole segments.
    for scenario in calibration["scenarios"]:
        if scenario["traffic"]["application"] == "iperf3" and scenario["traffic"]["protocol"] == "tcp":
            assert scenario["traffic"]["block_bytes"] % (scenario["transport"]["segment_bytes"] or 1448) == 0
