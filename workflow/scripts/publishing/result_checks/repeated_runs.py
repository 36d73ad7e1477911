"""Repeat a sample of a study's runs, and compare the documents byte for byte: which runs can be repeated here, and with what result."""

import time
from collections import Counter
from itertools import islice

from experiment.programs import has_programs
from publishing.result_checks import kernels_again, reruns, sampling
from publishing.result_checks.account import SHOWN
from publishing.result_checks.received_errors import shown
from publishing.result_checks.testbeds_here import ROOT
from session.run_cost import run_time_s
from study_files.run_platforms import is_repeatable

#: Name of the platform, and of its image, which set-up provides only on request.
SIMULATOR = "ns3"
#: Probability that the sentence about the sample states.
CHANCE = 0.95


def check_needs(documents, platforms, study, account) -> dict[str, dict]:
    """Report which image and testbed the documents need, and how to get them if they are missing.

    ``platforms`` are the testbeds of this checkout (see `testbeds_here`). Returns the specifications of the runs that can be repeated here, by
    name.
    """
    here = list(platforms.values())
    groups = Counter(document.made_by for document in documents if document.made_by)
    foreign = {digests: count for digests, count in groups.items() if digests not in here}
    if not foreign:
        for number, (image, testbed) in enumerate(digests for digests in here if digests in groups):
            account.step("needs", f"testbed image {image}") if not number else account.detail(f"image {image}")
            account.detail(f"and testbed {testbed}: both are here")
    else:
        count = sum(foreign.values())
        account.step("needs", f"{count} of {len(documents)} documents need a testbed other than the one here")
        for digests, count in islice(foreign.items(), SHOWN):
            ours = {digest for pair in here for digest in pair}
            image, testbed = (f"{shown(digest, 80)}{' (as here)' if digest in ours else ''}" for digest in digests)
            account.detail(f"{count} documents: testbed image {image}, testbed {testbed}")
        for image, testbed in here:
            account.detail(f"here: testbed image {image}, testbed {testbed}")
        without_image = {
            each.made_by for each in documents if each.platform == SIMULATOR and SIMULATOR not in platforms
        }
        if without_image & foreign.keys():
            account.detail(
                "what to do: `make setup NS3=1`, and verify again; runs on platform ns3 need an image of ns-3"
            )
        if foreign.keys() - without_image:
            account.detail(remedy(study))
    # An unreadable document doesn't state which testbed made it; most likely, it is the same as for the other documents.
    return {
        document.name: document.specification
        for document in documents
        if document.specification and (document.made_by in here or not foreign)
    }


def say_skipped(here_too, build, account) -> set[str]:
    """Report and return the runs to skip: runs with a real clock and, unless ``build``, runs with the study's own kernels or programs."""
    measured = {name for name, run in here_too.items() if not is_repeatable(run["scenario"]["platform"])}
    if measured:
        text = f"{len(measured)} of {len(here_too)} runs were measured with a real clock (platform host):"
        account.step("clock", text)
        account.detail(
            "not repeatable, because every execution gives different bytes; form, place, study and rows were checked"
        )
    defined = {name: run.get("cca_definitions", {}).values() for name, run in here_too.items()}
    built = {name for name, ccas in defined.items() if any("source" in one or "kernel" in one for one in ccas)}
    built |= {name for name, run in here_too.items() if has_programs(run)}
    if built and not build:
        account.step("kernels", f"{len(built)} of {len(here_too)} runs have the study's own kernel or programs:")
        account.detail(
            "these are not built or started by default; BUILD=1 builds the kernels from their sources, and starts kernels and programs"
        )
    return measured if build else measured | built


def remedy(study) -> str:
    """Return instructions for obtaining the version of the workflow that made a study's results."""
    if not study.commit:
        return (
            "what to do: ask the authors of the results for the commit of their workflow, which the results don't name"
        )
    changed = "; that workflow had uncommitted changes, so it may differ from this commit" if study.dirty else ""
    return f"what to do: `git checkout {study.commit}`, `make setup`, and verify again{changed}"


def repeat_runs(folder, here_too, measured, options, account, place, programs) -> tuple[int, int]:
    """Repeat the requested runs, and compare their documents byte for byte.

    Returns the number of runs that can't be repeated here, and the number of repeated runs. ``place`` is a temporary folder in which
    kernels are built. ``programs`` maps each image to the digest of its program.
    """
    here_too = {name: specification for name, specification in here_too.items() if name not in measured}
    if options.runs:
        asked = [name for name in dict.fromkeys(options.runs) if name not in measured]
        chosen = [name for name in asked if name in here_too]
        what = f"{len(chosen)} of {len(asked)} named runs"
    else:
        asked = range(options.count)
        chosen = sampling.draw(here_too, min(options.count, len(here_too)), options.seed)
        what = f"{len(chosen)} of {len(here_too)}, drawn with seed {options.seed}"
    if not chosen:
        account.leave_out("reruns", f"none of the requested runs can be repeated{' here' if asked else ''}")
        return len(asked), 0
    runs = {name: here_too[name] for name in chosen}
    if options.build:
        _build_kernels(runs, folder, place, account)
    cores = min(options.cores, len(runs))
    cost = {name: run_time_s(specification) for name, specification in runs.items()}
    time_text = reruns.about(sum(cost.values()) / cores)
    account.step("reruns", f"{what}; {time_text} on {cores} idle core{'s' * (cores > 1)}")
    width, began, done, differ = max(map(len, chosen)), time.monotonic(), 0.0, 0
    kernels = place / "kernels"
    again = reruns.rerun(runs, folder, ROOT, place, cores, programs, kernels if kernels.exists() else None)
    for number, (name, finding) in enumerate(again, 1):
        done += cost[name]
        left = (sum(cost.values()) - done) / done * (time.monotonic() - began)
        progress = f"{number} of {len(runs)}" + (f", {reruns.about(left)} left" if number < len(runs) else "")
        account.detail(f"{name:<{width}}  {finding or 'same bytes'}  ({progress})")
        differ += finding is not None
    account.problems += differ
    if not options.runs and not differ:
        account.detail(_what_a_sample_says(len(here_too), len(chosen)))
    return len(asked) - len(chosen), len(chosen)


def _build_kernels(runs, folder, place, account) -> None:
    """Build each kernel that the chosen runs need, and report whether it could be built."""
    needed = {kernels_again.kernel_name(specification, ROOT): specification for specification in runs.values()}
    needed.pop(None, None)
    for name, specification in needed.items():
        why_not = kernels_again.build(specification, folder, ROOT, place)
        account.step("kernels", f"{name}: {why_not or 'built again; the same kernel, byte for byte'}")


def _what_a_sample_says(total, drawn) -> str:
    """Return a sentence that states what a sample without differences says about the number of changed documents."""
    if drawn == total:
        return f"these were all {total} runs"
    least = sampling.least_changed(CHANCE, total, drawn)
    return (
        f"if at least {least} of the {total} documents had been changed, a sample of {drawn} would have included a changed "
        f"document with a probability of at least {CHANCE:.0%}, provided that nobody could foresee the seed"
    )
