# Sawtooth: TCP congestion-control experiments that anyone can rerun to the byte.
# Configuration, then the stages in the order in which the data flow.
import json
import os
import platform
import sys
from pathlib import Path

from snakemake import __version__ as SNAKEMAKE_VERSION
from snakemake.utils import min_version

# The workflow's own modules, and the testbed's: for this file and, as Snakemake mounts them, for scripts in containers.
sys.path[:0] = [str(Path(workflow.basedir, "workflow", "scripts")), str(Path(workflow.basedir, "workflow"))]
# `apptainer` may be the one that set-up put beside Snakemake.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

from session import inside_snakemake

min_version(inside_snakemake.TESTED_VERSION)

from session.cca_needs import kernels_of, parameter_problem, sources_of
from session.checkout import publish_commit
from session.host_needs import has_unmeasured, host_problem
from session.lost_jobs import show_lost_jobs
from session.progress_lines import show_progress
from session.run_cost import (
    TIDY_MEMORY_MB,
    job_memory_mb,
    job_runtime_min,
    runs_per_job,
    tidy_runtime_min,
    wall_limit_s,
)
from session.script_code import code_of
from session.slurm_reachable import require_slurm
from session.study_lock import hold_study
from session.surroundings import (
    clock_problem,
    leave_out_callers_variables,
    limit_problem,
    module_problem,
    path_problem,
)
from session.testbed_identity import image_digest, image_fact, package_digest, simulator_digest
from run_tables.metrics import differences
from study_files import study as studies
from study_files.study_design import StudyDesign
from study_files.study_platforms import machine_problem
from testbed.definitions import kernel_id
from topics.claims.claim_versions import record_claims
from topics.claims.claims_file import ClaimsError, claims_version, load_claims
from topics.controls.tables import OF_CCAS, OF_IP_VERSIONS
from topics.controls.topic import comparisons_of
from topics.outline import figure_params, other_tables, section_modules, study_outline, table_paths

problem = module_problem(sys.path[:2])
leave_out_callers_variables()
if problem := problem or path_problem(os.getcwd()) or limit_problem():
    sys.exit(f"sawtooth: {problem}")
show_progress()
show_lost_jobs()
# For the provenance. Not a parameter: a commit alone makes no result stale.
publish_commit(workflow.basedir)
# A run ends with the workflow that wanted it, also when that was killed.
os.environ["APPTAINERENV_SAWTOOTH_WORKFLOW"] = str(os.getpid())
# The image's own place for what matplotlib remembers is in /tmp, where another user may have put it.
os.environ["APPTAINERENV_MPLCONFIGDIR"] = str(Path(".snakemake", "matplotlib").absolute())

inside_snakemake.require_unread_study_files(workflow)
STUDY_FILE = os.path.relpath(inside_snakemake.study_file_given(workflow) or "config/config.yaml")
CONFIG_GIVEN = inside_snakemake.config_given(workflow)
# A setting of the call, and none of the study: its report is made of the runs that have a document (--config gaps=true).
GAPS = str(gaps := CONFIG_GIVEN.pop("gaps", False)).lower() == "true"
if str(gaps).lower() not in ("true", "false"):
    sys.exit(f"sawtooth: --config gaps={gaps}: expected true or false")
try:
    STUDY = studies.resolve(studies.load(STUDY_FILE, CONFIG_GIVEN), STUDY_FILE)
    CLAIMS_NAME = STUDY["analysis"]["claims"]
    CLAIMS = load_claims(f"config/claims/{CLAIMS_NAME}.yaml") if CLAIMS_NAME else None
    CLAIMS_VERSION = claims_version(f"config/claims/{CLAIMS_NAME}.yaml") if CLAIMS_NAME else None
except (studies.StudyError, ClaimsError) as error:
    sys.exit(f"sawtooth: {error}")

problem = machine_problem(STUDY, platform.machine()) or parameter_problem(STUDY)
if not problem and has_unmeasured(STUDY, Path("results", STUDY["study"])):
    problem = host_problem(STUDY)
if problem:
    sys.exit(f"sawtooth: {STUDY_FILE}: {problem}")

# How many runs a job carries: a setting of the call (`set-resources` of a profile), not of the study.
RUN_RESOURCES = inside_snakemake.resources_of_rule(workflow, "emulate_run")
RUNS_PER_JOB = runs_per_job(RUN_RESOURCES)
if RUNS_PER_JOB > 1:
    inside_snakemake.keep_what_failed_jobs_leave()

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
SETTINGS = {
    # Two-sided confidence of every interval, and the level of every test, as fractions.
    "confidence": 0.95,
    "significance": 0.05,
    # Of the sample sizes that the report names, a fraction (Cohen, 1988, section 2.4).
    "power": 0.8,
}
# Of each bootstrap.
RESAMPLES = 2000
# What the study's design asks of analysis, figures and report.
DESIGN = StudyDesign(STUDY, other_tables(STUDY["analysis"]["compare_with"]))
OUTLINE = study_outline(DESIGN)
if STUDY["controls"] != "none" and not comparisons_of(DESIGN):
    sys.exit(
        f"sawtooth: {STUDY_FILE}: controls is {STUDY['controls']}; allowed for a study that compares neither IP versions "
        "nor CCAs is none, for there are no tests to take controls through."
    )


onstart:
    inside_snakemake.switch_off_rate_limit(workflow)
    require_slurm(inside_snakemake.executor_name(workflow))
    hold_study(f"results/{STUDY['study']}")
    if problem := clock_problem(f"results/{STUDY['study']}"):
        sys.exit(f"sawtooth: {problem}")
    if CLAIMS:  # before the first run
        record_claims(f"results/{STUDY['study']}", CLAIMS_VERSION)
    if RUNS_PER_JOB > 1 and not inside_snakemake.keeps_incomplete(workflow):
        sys.exit(
            "sawtooth: jobs of several runs need --keep-incomplete, or one that fails takes the others' documents along."
        )


wildcard_constraints:
    study=re.escape(STUDY["study"]),
    scenario="|".join(map(re.escape, SCENARIOS)),
    cca="|".join(map(re.escape, STUDY["ccas"])),
    ip_version="|".join(STUDY["ip_versions"]),
    replication=r"[1-9]\d*",


include: "workflow/rules/kernels.smk"
include: "workflow/rules/emulate.smk"


if studies.has_looks(STUDY) and not GAPS:

    include: "workflow/rules/looks.smk"


include: "workflow/rules/tidy.smk"


# What only some studies have: the analysis of each topic stands in its folder.
for topic in OUTLINE.topics:
    if Path(workflow.basedir, topic.folder, "rules.smk").exists():

        include: f"{topic.folder}/rules.smk"


include: "workflow/rules/figures.smk"
include: "workflow/rules/report.smk"


# On a cluster runs, and reading them all, are jobs of the scheduler; the rest takes a minute where Snakemake runs.
inside_snakemake.run_here_all_but(
    workflow, "emulate_run", "measure_run", "simulate_run", "check_documents", "tidy_runs"
)


report: "report/workflow.rst"


rule all:
    default_target: True
    input:
        # All that is published, so that whatever is deleted is missed even though the report is there.
        RUN_DOCUMENTS,
        expand(rules.write_manifest.input.files, study=STUDY["study"]),
        expand(rules.write_manifest.output, study=STUDY["study"]),
