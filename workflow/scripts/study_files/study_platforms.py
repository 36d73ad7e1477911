"""What each platform, and iperf3, can do of what a study asks: refusals before any run, in one sentence each."""

from simulator.limits import refusals

#: Platforms that are a Linux kernel.
LINUX = ("uml", "host")
#: The processor that User-mode Linux exists for, by the names that systems have for it.
UML_PROCESSORS = ("x86_64", "amd64")


def flow_problems(scenario, ccas) -> list[str]:
    """Return what the flows of a scenario can't be, sentences that start with the key.

    Parameters
    ----------
    scenario : dict
        A resolved one.
    ccas : list of str
        CCAs and mixes of the study.
    """
    problems = []
    longest = max(ccas, key=lambda cca: cca.count("+"))
    parts = longest.count("+") + 1
    if scenario["flows"] < parts:
        problems.append(f"flows is {scenario['flows']}; allowed is at least {parts}, one for each CCA of {longest}.")
    if scenario["traffic"]["processes"] == "single" and scenario["hosts"]["pairs"] > 1:
        problems.append("traffic.processes is single; allowed with several pairs of hosts is per-flow.")
    if parts > 1 and scenario["traffic"]["processes"] == "single":
        problems.append(f"traffic.processes is single; allowed with a mix ({longest}) is per-flow.")
    if parts > 1 and scenario["transport"]["cca_set_by"] == "sysctl":
        problems.append(f"transport.cca_set_by is sysctl; allowed with a mix ({longest}) is socket.")
    return problems


def platform_problems(scenario, ccas, ip_versions) -> list[str]:
    """Return what the platform of a resolved scenario can't do of it, whole sentences."""
    where = f"scenarios[{scenario['id']}]"
    platform = scenario["platform"]
    if platform in LINUX:
        if scenario["transport"]["recovery"] != "prr":
            return [
                f"{where}.transport.recovery is {scenario['transport']['recovery']}; allowed on {platform} is prr, Linux's only one."
            ]
        return []
    return refusals(scenario, ccas, ip_versions)


def machine_problem(study, machine) -> str | None:
    """Return why this machine can't carry a study's platforms, or None.

    Parameters
    ----------
    study : dict
        A resolved one.
    machine : str
        The processor, as `platform.machine` names it.
    """
    if any(scenario["platform"] == "uml" for scenario in study["scenarios"]) and machine.lower() not in UML_PROCESSORS:
        return (
            f"platform uml runs on x86-64 processors only, and this one is {machine}; "
            "allowed here are scenarios with platform: ns3:<version>."
        )
    return None
