"""Check the requirements of calibration, sensitivity analysis and exams.

The checks expect a resolved study that `study_validation` has accepted.
"""

from collections.abc import Iterator

from experiment.conditions import POLICERS
from experiment.disciplines import discipline_of
from experiment.link_options import LINK_OPTIONS, LOSS_MODELS
from experiment.qdisc import DROP_TAIL
from experiment.timeline import TRACES
from study_files.named_programs import names_of
from study_files.perturbed_study import JOINT, WORDS
from study_files.study_runs import ccas_written_out
from study_files.study_schema import keys_of, study_schema
from study_files.study_validation import value_text


def analysis_problems(study) -> Iterator[str]:
    """Yield problems with the analyses that a resolved study requests, as sentences that start with the affected key."""
    yield from _check_calibration(study)
    yield from _check_sensitivity(study)
    yield from _check_exam(study)


#: Link options for which calibration knows exact values.
WITH_EXACT_NUMBERS = (*LOSS_MODELS, "correlation", "jitter_table")


def _check_calibration(study):
    """Yield a problem for each setting for which calibration knows no exact values.

    Exact values require a single flow on a single path, no segmentation offload, and a virtual clock.
    """
    if not study["analysis"]["calibration"]:
        return
    if study["controls"] != "none":
        yield f"controls is {study['controls']}; allowed with analysis.calibration: none, because calibration makes no tests."
    for scenario in study["scenarios"]:
        link, traffic = scenario["link"], scenario["traffic"]
        for key, value, allowed in (
            ("platform", scenario["platform"], ("uml",)),
            ("flows", "a list of groups" if scenario["groups"] else scenario["flows"], (1,)),
            ("background", scenario["background"], ("none",)),
            ("multipath.by", scenario["multipath"]["by"], ("none",)),
            ("link.netem", link["netem"], ("receiving-side",)),
            ("link.timeline", link["timeline"], ([],)),
            *((f"link.{key}", link[key], (None,)) for key in TRACES),
            *((f"link.{key}", link[key], (None,)) for key in POLICERS.values()),
            ("reverse_queue", scenario["reverse_queue"], (None,)),
            *(
                (f"link.{one.name}", link[one.name], (one.none,))
                for one in LINK_OPTIONS
                if one.name not in WITH_EXACT_NUMBERS
            ),
            ("queue.discipline", discipline_of(scenario["queue"]).name, (DROP_TAIL,)),
            ("traffic.application", traffic["application"], ("iperf3", "round-trip")),
            ("transport.segmentation_offload", scenario["transport"]["segmentation_offload"], (False,)),
        ):
            if value not in allowed:
                setting, *words = (one if isinstance(one, str) else value_text(one) for one in (value, *allowed))
                yield (
                    f"scenarios[{scenario['id']}].{key} is {setting}; "
                    f"allowed with analysis.calibration: {' or '.join(words)}."
                )
        if link["rate_mbps"] is None:
            yield f"scenarios[{scenario['id']}].link.rate_mbps is null; allowed with analysis.calibration: a number."
        if scenario["multipath"]["paths"] + scenario["hosts"]["pairs"] > 2:
            yield f"scenarios[{scenario['id']}]: allowed with analysis.calibration: one path between one pair of hosts."


def _check_sensitivity(study):
    """Yield a problem for each scenario whose id doesn't name a perturbation."""
    for scenario in study["scenarios"] if study["analysis"]["sensitivity"] else ():
        if scenario["id"].rpartition(JOINT)[2] not in WORDS or JOINT not in scenario["id"]:
            yield (
                f"scenarios[{scenario['id']}].id names no perturbation; allowed with analysis.sensitivity: <scenario>{JOINT}<perturbation>, "
                f"of {', '.join(WORDS)}."
            )


def _check_exam(study):
    """Yield problems with an exam, which needs the standard CCAs in `ccas` and doesn't allow mixes."""
    exam, names = study["exam"], {*keys_of(study_schema())["ccas"]["items"]["joined"], *study["cca_definitions"]}
    names |= {*names_of(study.get("programs"))}
    if exam["cca"] is None:
        return
    if exam["cca"] not in names:
        yield f"exam.cca is {exam['cca']}; allowed: one of {', '.join(sorted(names))}."
    for cca in exam["standards"]:
        if cca not in study["ccas"]:
            yield f"exam.standards has {cca}; allowed: CCAs in ccas, {', '.join(study['ccas'])}."
    if any("+" in cca for cca in ccas_written_out(study)):
        yield "ccas has mixes; allowed in an exam: single CCAs; use groups of flows for competing traffic."
    if exam["looks"] != sorted(set(exam["looks"])):
        yield f"exam.looks is {exam['looks']}; allowed: different numbers of replications in ascending order."
    if all(scenario["traffic"]["sample_interval_ms"] is None for scenario in study["scenarios"]):
        yield "traffic.sample_interval_ms is null in all scenarios; allowed in an exam: 1 to 1000 in scenarios whose course over time is to be shown."
