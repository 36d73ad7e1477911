"""What a study asks of this machine's own kernel, and what of it is missing: said before any run, in one sentence.

`needs` follows from the study alone; `kernel_features` finds out what the kernel has; `missing_words`
says what is missing, where it is asked for and how to get it.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from study_files.study_runs import runs
from testbed.specification import RunSpecification
from testbed.transport import cca_given_by
from wording.sentence_words import listed

SCRIPTS = Path(__file__).resolve().parents[1]
#: The program that finds out what the kernel has, and where its modules are.
PROBE = [sys.executable, "-P", "-m", "session.kernel_features"]
PROBE_ENVIRONMENT = {"PYTHONPATH": os.pathsep.join(map(str, (SCRIPTS, SCRIPTS.parent)))}
MODULES = Path("/lib/modules")
LOADED = Path("/proc/modules")
DISTRIBUTION = Path("/etc/os-release")
#: Part of the kernel -> what needs it, and the module that has it.
PARTS = {
    "htb": ("rate limits", "sch_htb"),
    "pfifo": ("queues in packets", None),
    "bfifo": ("queues in bytes", None),
    "netem": ("delay, jitter and loss", "sch_netem"),
    "ifb": ("delay and loss on a cable", "ifb"),
    "ingress": ("delay and loss on a cable", "sch_ingress"),
    "matchall": ("delay and loss on a cable", "cls_matchall"),
    "mirred": ("delay and loss on a cable", "act_mirred"),
    "mptcp": ("Multipath TCP", None),
    "gretap": ("GRE tunnels over IPv4", "ip_gre"),
    "ip6gretap": ("GRE tunnels over IPv6", "ip6_gre"),
    "fou": ("GRE in UDP", "fou"),
    "fou for gretap": ("GRE in UDP", None),  # with `fou`, if its kernel was configured so
    "fou for ip6gretap": ("GRE in UDP", "fou6"),
    "bond": ("joining tunnels", "bonding"),
    "veth": ("links", "veth"),
}
#: What a machine may refuse before it is asked for any part (`kernel_features`) -> the sentence; {} gets its words.
REFUSALS = {
    "namespaces": (
        "platform host needs user namespaces, and this machine refuses them ({}); its administrator can "
        "allow them (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone on Debian, "
        "kernel.apparmor_restrict_unprivileged_userns on Ubuntu), root needs none outside of a container, "
        "and platform: uml may do without."
    ),
    "mounts": (
        "platform host needs file systems of its own, and this machine refuses to mount them ({}), as it does in a "
        "container that hides a part of them; outside of it they may be allowed, and platform: uml may do without."
    ),
    "answer": (
        "platform host needs to know what this machine's kernel has, and it does not say ({}); it may be loading "
        "a module, so that a second call finds it, and platform: uml may do without."
    ),
}
#: Distribution (ID of os-release(5)) -> package that has the modules which a small kernel lacks.
PACKAGES = {
    "ubuntu": "linux-modules-extra-{kernel}",
    "debian": "linux-image-amd64 (its cloud kernels lack some)",
    "fedora": "kernel-modules-extra",
    "rhel": "kernel-modules-extra",
    "centos": "kernel-modules-extra",
    "rocky": "kernel-modules-extra",
    "almalinux": "kernel-modules-extra",
}


@dataclass(frozen=True)
class Need:
    """Something that the kernel must have: a ``part`` (as `PARTS` names it), or the ``cca`` of that name.

    ``scenarios`` are the identifiers of those that need it; ``allowed`` is true of a CCA that must be
    on the list of those that a network namespace may make its default.
    """

    part: str | None
    cca: str | None
    scenarios: tuple
    allowed: bool = False


def needs(study) -> list[Need]:
    """Return what the scenarios on platform ``host`` need, as a list of `Need`.

    Parameters
    ----------
    study : dict
        A resolved one.
    """
    scenarios = [scenario for scenario in study["scenarios"] if scenario["platform"] == "host"]
    names = {cca: None for mix in study["ccas"] for cca in mix.split("+")}
    needed = []
    for part in PARTS:
        where = tuple(scenario["id"] for scenario in scenarios if part in parts_of(scenario))
        needed += [Need(part, None, where)] if where else []
    for cca in names:
        for by_sysctl in (False, True):
            where = tuple(s["id"] for s in scenarios if asks_for_ccas(s) and set_as_default(s) == by_sysctl)
            needed += [Need(None, cca, where, by_sysctl)] if where else []
    return needed


def parts_of(scenario) -> set[str]:
    """Return the parts of the kernel that a scenario's network is made of."""
    parts, link, paths = {"veth"}, scenario["link"], scenario["multipath"]
    if link["rate_mbps"] is not None and _specification(scenario).shaped:
        parts |= {"htb", "bfifo" if "bytes" in scenario["queue"] else "pfifo"}
    if scenario["topology"] == "dumbbell":
        parts.add("netem")  # behind the bottleneck, also where it delays by nothing
    elif any(paths["path_delay_ms"]) or any(
        any(link[key].values()) for key in ("delay_ms", "jitter_ms", "loss_percent")
    ):
        parts |= {"netem", "ifb", "ingress", "matchall", "mirred"}
    if paths["by"] == "mptcp":
        parts.add("mptcp")
    if paths["by"] == "gre":
        tunnel = "gretap" if paths["tunnel_ip_version"] == "ipv4" else "ip6gretap"
        parts |= {tunnel, "fou", f"fou for {tunnel}", "bond"}
    return parts


def _specification(scenario):
    """Return a scenario as the testbed has it."""
    return RunSpecification({"scenario": scenario})


def asks_for_ccas(scenario) -> bool:
    """Tell whether a scenario's traffic has a CCA."""
    return scenario["traffic"]["protocol"] == "tcp"


def set_as_default(scenario) -> bool:
    """Tell whether a scenario's CCA becomes the default of a network namespace, for which it must be on the machine's list."""
    return cca_given_by(_specification(scenario)) == "sysctl" and scenario["transport"]["restricted_ccas"] == "allowed"


def has_unmeasured(study, results) -> bool:
    """Tell whether a scenario on platform ``host`` has a run without a document: else nothing is asked of the machine.

    Parameters
    ----------
    study : dict
        A resolved one.
    results : pathlib.Path
        The study's folder of results.
    """
    measured = {scenario["id"] for scenario in study["scenarios"] if scenario["platform"] == "host"}
    documents = (
        results / "runs" / scenario / cca / ip_version / f"{replication}.json.gz"
        for scenario, cca, ip_version, replication in runs(study)
        if scenario in measured
    )
    return not all(document.exists() for document in documents)


def host_problem(study, kernel=None) -> str | None:
    """Return why this machine's kernel can't carry a study's scenarios on platform ``host``, or None.

    Parameters
    ----------
    study : dict
        A resolved one.
    kernel : dict, optional
        What `kernel_features` found; by default it is asked.
    """
    needed = needs(study)
    if not needed:
        return None
    kernel = kernel or kernel_now()
    if kernel["refuses"]:
        return REFUSALS[kernel["refuses"]].format(kernel["refused"])
    missing = [need for need in needed if not is_there(need, kernel)]
    return missing_words(missing, kernel, len(study["scenarios"])) if missing else None


def is_there(need, kernel) -> bool:
    """Tell whether a kernel has what is needed."""
    if need.part:
        return kernel["parts"][need.part]
    return need.cca in kernel["ccas_allowed" if need.allowed else "ccas"]


def kernel_now() -> dict:
    """Return what the kernel of this machine has (see `kernel_features`), found in a process of its own."""
    done = subprocess.run(PROBE, env=os.environ | PROBE_ENVIRONMENT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def missing_words(missing, kernel, scenarios) -> str:
    """Return the sentence that says what is missing, why it is needed, and how to get it.

    Parameters
    ----------
    missing : list of Need
    kernel : dict
        What `kernel_features` found.
    scenarios : int
        Number of the study's scenarios.
    """
    lacking = {}
    for need in missing:
        if need.part:
            lacking.setdefault((PARTS[need.part][0], need.scenarios), []).append(need.part)
    lacks = [
        f"has no {listed(parts)} ({why}: {scenario_words(where, scenarios)})" for (why, where), parts in lacking.items()
    ]
    absent = [need.cca for need in missing if need.cca and need.cca not in kernel["ccas"]]
    if absent := list(dict.fromkeys(absent)):
        lacks.append(f"has no CCA {', '.join(absent)} (it has {', '.join(kernel['ccas'])})")
    refused = [need.cca for need in missing if need.allowed and need.cca in kernel["ccas"]]
    if refused:
        lacks.append(f"does not let a network namespace make {', '.join(refused)} its default")
    modules = [PARTS[need.part][1] for need in missing if need.part] + [f"tcp_{cca}" for cca in absent]
    ways = [how_to_add([module for module in modules if module], kernel["kernel"])] if any(modules) else []
    if refused:
        allowed = " ".join(sorted({*kernel["ccas_allowed"], *refused}))
        ways.append(f'sysctl -w net.ipv4.tcp_allowed_congestion_control="{allowed}" lets it be the default')
    return (
        f"platform host can't carry this study on this machine: its kernel ({kernel['kernel']}) {listed(lacks)}; "
        f"{'; '.join([*ways, 'allowed are scenarios without these'])}, or platform: uml."
    )


def scenario_words(names, of_all) -> str:
    """Return which scenarios are meant, the first by name."""
    if len(names) == of_all > 1:
        return f"all {of_all} scenarios"
    if len(names) == 1:
        return f"scenario {names[0]}"
    return f"{len(names)} scenarios, {names[0]} the first"


def how_to_add(modules, kernel, folder=MODULES, loaded=LOADED, distribution=DISTRIBUTION) -> str:
    """Return how a machine's root would add kernel modules, as far as the machine tells.

    Parameters
    ----------
    modules : list of str
    kernel : str
        Its release.
    folder, loaded, distribution : pathlib.Path
        Where a machine has its modules, says which it has loaded, and names its distribution.
    """
    if not loaded.exists():
        return "it takes no modules that would add them"
    try:
        there = (folder / kernel / "modules.dep").read_text()
    except OSError:
        return f"root could add them with modprobe {' '.join(modules)}, where there are such modules for it"
    installed = [module for module in modules if f"/{module}.ko" in there]
    absent = [module for module in modules if module not in installed]
    ways = []
    if installed:
        ways.append(f"root adds {'them' if not absent else 'some'} with modprobe {' '.join(installed)}")
    if absent:
        package = PACKAGES.get(distribution_id(distribution), "another kernel package").format(kernel=kernel)
        ways.append(f"{', '.join(absent)} may come with {package}")
    return "; ".join(ways)


def distribution_id(path) -> str:
    """Return the distribution's identifier (os-release(5)), or an empty text."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return ""
    return next((line.partition("=")[2].strip('"') for line in lines if line.startswith("ID=")), "")
