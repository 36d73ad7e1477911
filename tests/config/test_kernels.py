"""Guest kernels defined by a study: what a run gets of them, how they are identified, and what is refused."""

import hashlib
import json
import shutil
import sys
from pathlib import Path

import pytest

import study_files.kernels
from experiment.own_kernels import has_seccomp, process_mode
from experiment.specification import RunSpecification
from publishing.result_checks.received_errors import ReceivedError
from publishing.result_checks.received_study import check_specification
from report_page.method import defined_ccas
from run_tables.tidy_rows import scenario_row
from session.cca_needs import kernels_of, patch_problem
from study_files import study as studies
from study_files.kernel_trees import digests_of_files, tree_digest
from study_files.kernels import bases

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "setup"))

import kernel_bases  # noqa: E402 (not in a test: there the checkout is another)
import kernels  # noqa: E402

PATCH = """--- a/net/ipv4/tcp_cong.c
+++ b/net/ipv4/tcp_cong.c
@@ -1,1 +1,1 @@
-old
+new
"""
SCENARIOS = [{"id": "a", "flows": 2}]


@pytest.fixture(autouse=True)
def checkout(tmp_path, monkeypatch):
    """A folder with the files that identify a checkout's kernels, and a patch."""
    shutil.copytree(ROOT / "envs/guest", tmp_path / "envs/guest")
    shutil.copy(ROOT / "envs/debian.lock", tmp_path / "envs")
    (tmp_path / "mine.patch").write_text(PATCH)
    monkeypatch.setattr(study_files.kernels, "CHECKOUT", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study(**keys):
    given = {"study": "try", "ccas": ["cubic", "mine"], "scenarios": SCENARIOS}
    return studies.resolve(
        {**given, "kernels": {"own": {"base": "6.12", "ccas": {"mine": "cubic"}}}, **keys}, "try.yaml"
    )


def with_kernel(**kernel):
    return study(kernels={"own": {"ccas": {"mine": "cubic"}, **kernel}})


def names(of_study):
    return list(kernels_of(of_study, "0" * 64))


def specification(of_study, cca):
    return RunSpecification(studies.run_specification(of_study, "a", cca, "ipv4", 1))


def refusal(**keys):
    with pytest.raises(studies.StudyError) as caught:
        study(**keys)
    return caught.value.problems[0]


def test_only_runs_on_a_kernel_know_of_it():
    of_study = study(ccas=["cubic", "mine", "reno+mine"])
    assert "cca_definitions" not in specification(of_study, "cubic").document
    for cca in ("mine", "reno+mine"):
        run = specification(of_study, cca)
        assert run.kernel["version"] == bases()["6.12"]["version"]
        assert run.kernel_cca("mine") == "cubic"
    assert "kernels" not in of_study
    assert studies.resolve(of_study, "again") == of_study


def test_a_scenario_may_have_a_kernel():
    """All CCAs of its runs are that kernel's; CCAs of other scenarios, and the conditions, are unaffected."""
    scenarios = [
        {"id": "a", "flows": [{"name": "own", "stop_s": 5}, {"name": "other", "cca": "reno", "stop_s": 5}]},
        {"id": "b"},
    ]
    of_study = study(
        ccas=["cubic"], kernels={"own": {"base": "6.12"}}, scenarios=[scenarios[0] | {"kernel": "own"}, scenarios[1]]
    )
    run = specification(of_study, "cubic")
    assert run.kernel["base"] == "6.12" and [*run.document["cca_definitions"]] == ["cubic", "reno"]
    assert run.kernel_cca("cubic") == "cubic" and "kernel" not in run.document["scenario"]
    assert "cca_definitions" not in studies.run_specification(of_study, "b", "cubic", "ipv4", 1)
    assert len(names(of_study)) == 1
    assert studies.resolve(of_study, "again") == of_study
    tick = {"base": "newest", "config": {"HZ": 250}}
    shared = study(
        ccas=["cubic"], kernels={}, defaults={"kernel": tick}, scenarios=[{"id": "a"}, {"id": "b", "kernel": None}]
    )
    assert specification(shared, "cubic").kernel["config"] == {"HZ": 250}
    assert "kernel" not in shared["scenarios"][1]
    assert scenario_row(shared["scenarios"][0], [])["kernel"] == "Linux, HZ=250"


def test_what_a_scenarios_kernel_cannot_be():
    assert "scenarios[a].kernel is nothing; allowed: own" in refusal(scenarios=[{"id": "a", "kernel": "nothing"}])
    on_host = [{"id": "a", "platform": "host", "kernel": "own"}]
    assert "scenarios[a].kernel has the study's own kernel; on host" in refusal(
        ccas=["cubic"], kernels={"own": {"base": "6.12"}}, scenarios=on_host
    )
    two = {"own": {"base": "6.12", "ccas": {"mine": "cubic"}}, "old": {"base": "6.1"}}
    problem = refusal(kernels=two, scenarios=[{"id": "a", "kernel": "old"}])
    assert "scenarios[a].kernel differs from the kernel of cca_definitions.mine" in problem


def test_a_definition_with_parameters_may_name_a_kernel():
    definitions = {"slow": {"base": "cubic", "kernel": "own", "parameters": {"hystart": 0}}}
    run = specification(study(ccas=["slow", "mine"], cca_definitions=definitions), "slow")
    assert run.kernel["base"] == "6.12"


def test_a_kernel_is_named_by_its_content():
    plain, other = names(with_kernel(base="6.12")), names(with_kernel(base="6.1"))
    patched, tick = (
        names(with_kernel(base="6.12", patches=["mine.patch"])),
        names(with_kernel(base="6.12", config={"HZ": 250})),
    )
    Path("same.patch").write_text(PATCH)
    assert names(with_kernel(base="6.12", patches=["same.patch"])) == patched
    Path("mine.patch").write_text(PATCH.replace("new", "newer"))
    changed = names(with_kernel(base="6.12", patches=["mine.patch"]))
    assert len({*plain, *other, *patched, *tick, *changed}) == 5
    Path("envs/guest/before-6.6/0002.patch").write_text(PATCH)
    assert names(with_kernel(base="6.12")) != plain


def test_the_images_own_kernel_needs_no_other():
    of_study = with_kernel(base="newest")
    assert of_study["cca_definitions"] == {"mine": {"base": "cubic", "parameters": {}}}
    assert names(of_study) == []


def test_a_tree_is_named_by_version_and_content(checkout):
    tree = checkout / "linux"
    (tree / "arch/um").mkdir(parents=True)
    (tree / ".git").mkdir()
    (tree / "arch/um/Kconfig").write_text("config UML_TIME_TRAVEL_SUPPORT\n")
    (tree / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 15\nSUBLEVEL = 0\nEXTRAVERSION = -rc2\n")
    of_study = with_kernel(tree="linux")
    assert specification(of_study, "mine").kernel["version"] == "6.15.0-rc2"
    digest = tree_digest(tree)
    (tree / ".git/HEAD").write_text("other")
    assert tree_digest(tree) == digest
    (tree / "Makefile").chmod(0o600)
    (tree / "new.c").symlink_to("Makefile")
    assert names(with_kernel(tree="linux")) != names(of_study)
    (tree / ".config").touch()
    assert "linux/.config: the tree was built in place" in refusal(
        kernels={"own": {"tree": "linux", "ccas": {"mine": "cubic"}}}
    )


def a_tree(folder):
    """Return a source tree of a few files."""
    for path, text in {
        "net/ipv4/tcp_cubic.c": "cubic",
        "net/ipv4/tcp.c": "tcp",
        "net/Makefile": "obj-y",
        "arch/um/a.c": "um",
        "usr/run.c": "run",
        "sound/a.c": "a",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def test_of_a_changed_tree_what_changed_is_built(checkout, monkeypatch):
    """Except for files that the guest's patches change, files that a build executes, and files that are added or removed."""
    monkeypatch.setenv("SAWTOOTH_CACHE", str(checkout / "cache"))
    tree, base = a_tree(checkout / "tree"), checkout / "cache/kernels/base-7-0"
    kernel = {"tree": "tree", "sha256": tree_digest(tree)}
    assert kernel_bases.nearest_base(kernel, "one") is None
    a_tree(base / "source")
    (base / kernel_bases.FILES).write_text(json.dumps(digests_of_files(tree)))
    (base / kernel_bases.MADE_BY).write_text("one")
    # What a guest's kernel is made with, and what no build reads.
    (base / "source/arch/um/a.c").write_text("patched")
    (base / "source/sound/a.c").unlink()
    (tree / "net/ipv4/tcp_cubic.c").write_text("faster")
    (tree / "sound/a.c").write_text("louder")

    def nearest(made_by="one"):
        return kernel_bases.nearest_base({"tree": "tree", "sha256": tree_digest(tree)}, made_by)

    cubic = "net/ipv4/tcp_cubic.c"
    found = {cubic: hashlib.sha256(b"faster").hexdigest()}
    assert nearest() == (base, found)
    assert nearest("another image") is None
    with pytest.raises(kernel_bases.SetupError, match="has changed since the study was read"):
        kernel_bases.nearest_base(kernel, "one")
    for path, text in {
        "arch/um/a.c": "other",
        "net/Makefile": "",
        "usr/run.c": "other",
        "net/ipv4/tcp.c": None,
    }.items():
        kept = (tree / path).read_text()
        (tree / path).unlink() if text is None else (tree / path).write_text(text)
        assert nearest() is None
        (tree / path).write_text(kept)
    (tree / "net/ipv4/new.h").write_text("found before another")
    assert nearest() is None
    (tree / "net/ipv4/new.h").unlink()
    (tree / cubic).chmod(0o755)
    assert nearest() is None
    (tree / cubic).chmod(0o644)
    assert nearest()


@pytest.mark.parametrize(
    ("version", "mode"), [("6.15.0-rc2", {"process_mode": "ptrace"}), ("6.16.1", {}), ("7.0-rc1", {})]
)
def test_seccomp_mode_came_with_linux_6_16(version, mode):
    of_study = with_kernel(base="6.12", version=version, sha256="0" * 64)
    assert process_mode(specification(of_study, "mine")) == mode
    assert has_seccomp(None)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        ({"base": "5.4"}, "kernels.own.base is 5.4; allowed: 6.1, 6.12 (Debian's sources"),
        ({"base": 6.12}, "kernels.own.base is 6.12; allowed: a version in quotes"),
        ({"base": "6.12", "tree": "x"}, "either base, as \"6.12\", or tree"),
        ({"tree": "nowhere"}, "kernels.own.tree is nowhere; there is no such folder"),
        ({"tree": "envs"}, "kernels.own.tree is envs; envs/Makefile: no such file"),
        ({"base": "6.12", "patches": ["bbr3.patch"]}, "kernels.own.patches[0] is bbr3.patch; there is no such file: patches/README.md says"),
        ({"base": "6.12", "patches": ["../x.patch"]}, "allowed: a path below this folder to a patch, without .."),
        ({"base": "6.12", "patches": ["envs/guest/kernel.config"]}, "it changes no file"),
        ({"base": "6.12", "config": {"SMP": "y"}}, "kernels.own.config sets SMP, whose value in envs/guest/kernel.config every guest kernel needs"),
        ({"base": "6.12", "config": {"hz": 250}}, "the name of an option without CONFIG_"),
        ({"base": "6.12", "config": {"CONFIG_HZ": 250}}, "the name of an option without CONFIG_"),
        ({"base": "6.12", "config": {"HZ": "250"}}, 'kernels.own.config.HZ is "250"; allowed: a whole number from 12 to 12,287'),
        ({"base": "6.12", "config": {"HZ": 0}}, "kernels.own.config.HZ is 0; allowed: a whole number"),
        ({"base": "6.12", "config": {"HZ": True}}, "kernels.own.config.HZ is true; allowed: a whole number"),
        ({"base": "6.12", "config": {"TLS": "m"}}, "kernels.own.config.TLS is m; allowed: y and n"),
        ({"tree": "envs/guest/kernel.config"}, "it is not a folder; allowed: a folder or an archive (.tar, "),
        ({"base": "6.12", "ccas": {}}, "kernels.own is not used by any CCA"),
        ({"base": "6.12", "ccas": {"mine": "kubic"}}, "did you mean 'cubic'?"),
    ],
)  # fmt: skip
def test_what_a_kernel_cannot_be(kernel, words):
    assert words in refusal(
        kernels={"own": {"ccas": {"mine": "cubic"}, **kernel}},
        ccas=["cubic", "mine"][: 1 + bool(kernel.get("ccas", True))],
    )


def test_a_run_has_one_kernel():
    two = {"own": {"base": "6.12", "ccas": {"mine": "cubic"}}, "old": {"base": "6.1", "ccas": {"yours": "reno"}}}
    assert "mine and yours need different kernels" in refusal(kernels=two, ccas=["mine+yours"])
    definitions = {"slow": {"base": "cubic", "parameters": {"hystart": 0}}}
    assert "need different kernels" in refusal(cca_definitions=definitions, ccas=["slow+mine"])


@pytest.mark.parametrize("platform", ["host", "ns3:3.44"])
def test_kernels_are_the_guests(platform):
    assert f"on {platform}" in refusal(scenarios=[{"id": "a", "platform": platform, "flows": 2}])


def test_a_kernel_has_the_name_of_no_other_definition():
    assert "which is also defined elsewhere" in refusal(cca_definitions={"mine": {"base": "reno"}})


def test_a_studys_options_take_the_place_of_the_bases(checkout):
    (checkout / "kernel.config").write_text("# CONFIG_A=y\nCONFIG_TCP_CONG_BIC=y\nCONFIG_TCP_CONG_BBR=y\n")
    config = {"HZ": 250, "TCP_CONG_BIC": "n", "X": "a b", "Y": True}
    lines = kernels.configuration(checkout, config).splitlines()
    assert lines == ["# CONFIG_A=y", "CONFIG_TCP_CONG_BBR=y", "CONFIG_TCP_CONG_BIC=n", 'CONFIG_X="a b"', "CONFIG_Y=y"]
    assert kernels.option_lines(config)[0] == "CONFIG_HZ=250"


def test_the_report_says_which_kernel_a_cca_runs_on():
    (row,) = defined_ccas(with_kernel(base="6.12", patches=["mine.patch"], config={"HZ": 250}))
    version = bases()["6.12"]["version"]
    assert row["origin"] == f"the kernel's CUBIC, on Linux 6.12 ({version}), mine.patch, HZ=250"


def test_a_patch_is_needed_until_its_kernel_is_built(checkout):
    """A patch that the study names with its digest isn't read before then."""
    patches = [{"path": "patches/theirs.patch", "sha256": "0" * 64}]
    of_study = with_kernel(base="6.12", patches=patches)
    assert "kernels has the patch patches/theirs.patch, which doesn't exist" in patch_problem(
        of_study, "0" * 64, checkout
    )
    (name,) = names(of_study)
    (checkout / "kernels" / name).mkdir(parents=True)
    (checkout / "kernels" / name / "linux").touch()
    assert patch_problem(of_study, "0" * 64, checkout) is None


def test_of_a_received_run_no_file_of_this_machine_is_read(checkout):
    """For a kernel without digests, a patch or a whole tree would be read from any path that the sender chose."""
    run = studies.run_specification(with_kernel(base="6.12", patches=["mine.patch"]), "a", "mine", "ipv4", 1)
    run = json.loads(json.dumps(run))
    (checkout / "mine.patch").unlink()
    assert check_specification(run, "run") == run
    kernel = run["cca_definitions"]["mine"]["kernel"]
    for broken in (
        {"tree": "/"},
        {**kernel, "patches": ["mine.patch"]},
        {**kernel, "version": None} | {"sha256": 1},
        "own",
        {"base": "6.12"},
    ):
        run["cca_definitions"]["mine"]["kernel"] = broken
        with pytest.raises(ReceivedError):
            check_specification(run, "run")


def test_another_file_than_the_study_names_is_refused(checkout):
    patches = [{"path": "mine.patch", "sha256": "0" * 64}]
    of_study = with_kernel(base="6.12", patches=patches)
    has = hashlib.sha256(PATCH.encode()).hexdigest()
    problem = patch_problem(of_study, "0" * 64, checkout)
    assert f"the patch mine.patch with SHA-256 {'0' * 64}, but the file has {has}" in problem
    patches[0]["sha256"] = has
    assert patch_problem(with_kernel(base="6.12", patches=patches), "0" * 64, checkout) is None
