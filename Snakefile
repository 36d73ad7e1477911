# Sawtooth: TCP congestion-control experiments that anyone can rerun to the byte.
# Configuration, then the stages in the order in which the data flow.
import json
import os
import platform
import sys
from pathlib import Path

from snakemake import __version__ as SNAKEMAKE_VERSION
from snakemake.utils import min_version

min_version("9.0")

sys.path.insert(0, str(Path(workflow.basedir, "workflow", "scripts")))
# `apptainer` may be the one that set-up put beside Snakemake.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

from study_files import study as studies
from study_files.study_outline import study_outline
from checkout import publish_commit
from study_files.claims import ClaimsError, load_claims
from study_files.host_needs import has_unmeasured, host_problem
from study_files.study_platforms import machine_problem
from lost_jobs import show_lost_jobs
from progress_lines import show_progress
from run_cost import TIDY_MEMORY_MB, job_memory_mb, job_runtime_min, runs_per_job, tidy_runtime_min, wall_limit_s
from run_tables.metrics import METRICS
from script_modules import modules_of
from slurm_reachable import require_slurm
from study_lock import hold_study
from testbed_identity import image_digest, package_digest, simulator_digest

show_progress()
show_lost_jobs()
# For the provenance. Not a parameter: a commit alone makes no result stale.
publish_commit(workflow.basedir)
# A run ends with the workflow that wanted it, also when that was killed.
os.environ["APPTAINERENV_SAWTOOTH_WORKFLOW"] = str(os.getpid())

# A study file stands alone: `configfile:` would merge it with the default study's keys.
STUDY_FILE = (
    os.path.relpath(workflow.overwrite_configfiles[-1])
    if workflow.overwrite_configfiles
    else "config/config.yaml"
)
try:
    STUDY = studies.resolve(studies.load(STUDY_FILE, workflow.config_settings.config), STUDY_FILE)
    CLAIMS_NAME = STUDY["analysis"]["claims"]
    CLAIMS = load_claims(f"config/claims/{CLAIMS_NAME}.yaml") if CLAIMS_NAME else None
except (studies.StudyError, ClaimsError) as error:
    sys.exit(f"sawtooth: {error}")

problem = machine_problem(STUDY, platform.machine())
if not problem and has_unmeasured(STUDY, Path("results", STUDY["study"])):
    problem = host_problem(STUDY)
if problem:
    sys.exit(f"sawtooth: {STUDY_FILE}: {problem}")

# How many runs a job carries: a setting of the call (`set-resources` of a profile), not of the study.
RUNS_PER_JOB = runs_per_job(workflow.resource_settings.overwrite_resources)

SCENARIOS = [scenario["id"] for scenario in STUDY["scenarios"]]
# A changed testbed or image makes results stale by content, not by date.
TESTBED_DIGEST = package_digest("workflow/testbed")
TESTBED_IMAGE = image_digest("envs/testbed.json")
# Scenario -> platform without its version; platform -> what its documents say of the program and the image.
PLATFORMS = {scenario["id"]: scenario["platform"].partition(":")[0] for scenario in STUDY["scenarios"]}
MADE_BY = {"uml": {"testbed_digest": TESTBED_DIGEST, "image_digest": TESTBED_IMAGE}}
if "host" in PLATFORMS.values():
    MADE_BY["host"] = MADE_BY["uml"]
if "ns3" in PLATFORMS.values():
    MADE_BY["ns3"] = {"testbed_digest": simulator_digest(), "image_digest": image_digest("envs/ns3.json")}
ANALYSIS_IMAGE = image_digest("envs/analysis.json")
# Two-sided confidence of every interval, and the level of every test, as fractions.
CONFIDENCE = 0.95
SIGNIFICANCE = 0.05
# Of the sample sizes that the report names, a fraction (Cohen, 1988, section 2.4).
POWER = 0.8
# Of each bootstrap.
RESAMPLES = 2000


# What has been analysed of the study that this one is compared with: input name -> path.
OTHER_STUDY = STUDY["analysis"]["compare_with"]
OTHER_TABLES = {
    f"other_{name}": path
    for name in ("descriptive", "claims", "mislabelled")
    if OTHER_STUDY and Path(path := f"results/{OTHER_STUDY}/analysis/{name}.csv").exists()
}
# What the study's design asks of analysis, figures and report.
OUTLINE = study_outline(STUDY, CLAIMS_NAME, OTHER_STUDY, methods="other_descriptive" in OTHER_TABLES)


onstart:
    # With a limit of jobs per second, which no setting turns off, Snakemake looks for jobs once a second
    # more with each job that has ended: after a thousand runs that is all it does.
    workflow.scheduler.job_rate_limiter = None
    require_slurm(workflow.executor_plugin.name)
    hold_study(f"results/{STUDY['study']}")
    if RUNS_PER_JOB > 1 and not workflow.execution_settings.keep_incomplete:
        sys.exit("sawtooth: jobs of several runs need --keep-incomplete, or one that fails takes the others' documents along.")


wildcard_constraints:
    study=re.escape(STUDY["study"]),
    scenario="|".join(map(re.escape, SCENARIOS)),
    cca="|".join(map(re.escape, STUDY["ccas"])),
    ip_version="|".join(STUDY["ip_versions"]),
    replication=r"[1-9]\d*",


include: "workflow/rules/emulate.smk"
include: "workflow/rules/tidy.smk"
include: "workflow/rules/analyse.smk"
include: "workflow/rules/plot.smk"
# What only some studies have: analysis and figures of a topic in a file of its own.
for topic in OUTLINE.topics:

    include: f"workflow/rules/{topic.name}.smk"


include: "workflow/rules/report.smk"


# On a cluster runs, and reading them all, are jobs of the scheduler; the rest takes a minute where Snakemake runs.
workflow.localrules(*(rule.name for rule in workflow.rules if not rule.name.startswith(("emulate_run", "measure_run", "simulate_run", "tidy_runs"))))


report: "report/workflow.rst"


rule all:
    input:
        f"results/{STUDY['study']}/report.html",
        f"results/{STUDY['study']}/ro-crate-metadata.json",
        # Named here, so that a deleted run or figure is missed even though the report is there.
        RUN_DOCUMENTS,
        FIGURES,
    default_target: True
