# Emulation, measurement and simulation: study -> runs/<scenario>/<cca>/<ip version>/<replication>.json.gz
# Control runs are runs like any other until they are tidied.
RUN_DOCUMENTS = [
    f"results/{STUDY['study']}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz"
    for scenario, cca, ip_version, replication in studies.all_runs(
        STUDY, studies.wanted_replications(STUDY, f"results/{STUDY['study']}") if GAPS else None
    )
]
if GAPS:
    RUN_DOCUMENTS = list(filter(os.path.exists, RUN_DOCUMENTS))
    if not RUN_DOCUMENTS:
        sys.exit(f"sawtooth: --config gaps=true: results/{STUDY['study']}/runs has no document of a run yet")
# Of a study that goes on until it is precise enough there may be fewer: looks.smk.
MOST_DOCUMENTS = len(RUN_DOCUMENTS)
# What the runs of a scenario share, at the upper ends of what is drawn: what a job must have room for.
CONDITIONS = {scenario: studies.largest_conditions(STUDY, scenario) for scenario in SCENARIOS}
# The same as the testbed gets it, of scenarios of which nothing is drawn.
CONDITIONS_JSON = {
    scenario["id"]: json.dumps(CONDITIONS[scenario["id"]])
    for scenario in STUDY["scenarios"]
    if not studies.is_varied(scenario)
}


# Of the study Snakemake records this and the seed with each document, and nothing of the job: how many runs go
# to a job makes none of them stale.
def conditions_of(replication=None, cca=None):
    """Return the function of a job's parameter: the conditions of its runs as JSON, which have one replication where they are
    drawn, and one CCA where the study defines any.

    It asks the wildcards alone: of what follows from a job's files Snakemake notices no change.
    """

    def conditions(wildcards):
        of_run = cca or wildcards.cca
        if wildcards.scenario in CONDITIONS_JSON and not studies.parts_defined(STUDY, of_run):
            return CONDITIONS_JSON[wildcards.scenario]
        numbered = replication or wildcards.replication if wildcards.scenario not in CONDITIONS_JSON else None
        return json.dumps(studies.run_conditions(STUDY, wildcards.scenario, numbered, of_run))

    return conditions


# The same for every job, or the text of a rule would make runs stale.
CARRY_OUT = (
    "PYTHONPATH=workflow python3 -B -m testbed.job --conditions {params.conditions:q} --job {params.job:q}"
    " --folder results/{wildcards.study:q} --wall-limit-s {resources.wall_limit_s}"
)


def job_with(log=None):
    """Return the function of a job's parameter: its runs (CCA, IP version, replication, seed) and its log as JSON."""

    def job(wildcards, output):
        factors = (path.removesuffix(".json.gz").split("/")[-4:] for path in output)
        runs = [
            [cca, ip_version, int(replication), studies.run_seed(STUDY["seed"], scenario, replication)]
            for scenario, cca, ip_version, replication in factors
        ]
        return json.dumps({"runs": runs, "log": log and log.format(**wildcards)}, separators=(",", ":"))

    return job


def job_memory(wildcards):
    # A job may have runs of every CCA.
    defined = {"cca_definitions": STUDY["cca_definitions"]}
    return job_memory_mb({**CONDITIONS[wildcards.scenario], **defined, "cca": "+".join(STUDY["ccas"])})


def scenarios_on(platform):
    """Return the scenarios of a platform as a wildcard's constraint; an empty text if there are none."""
    return "|".join(re.escape(name) for name in SCENARIOS if PLATFORMS[name] == platform)


EMULATED, MEASURED, SIMULATED = scenarios_on("uml"), scenarios_on("host"), scenarios_on("ns3")


# A profile says how many runs a job carries (`set-resources`): one on a machine, many on a cluster.
if EMULATED and RUNS_PER_JOB == 1:

    # One run: a guest kernel with its own network and clock. The last line of its log says how it went.
    rule emulate_run:
        input:
            kernel=kernel_file(),
        output:
            document="results/{study}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz",
        log:
            "results/{study}/logs/runs/{scenario}/{cca}/{ip_version}/{replication}.log",
        benchmark:
            "results/{study}/benchmarks/runs/{scenario}/{cca}/{ip_version}/{replication}.tsv"
        wildcard_constraints:
            scenario=EMULATED,
        container:
            "envs/testbed.sif"
        resources:
            mem_mb=job_memory,
            runtime=lambda wildcards: job_runtime_min(CONDITIONS[wildcards.scenario], 1),
            wall_limit_s=lambda wildcards: wall_limit_s(CONDITIONS[wildcards.scenario]),
        params:
            conditions=conditions_of(),
            study_seed=STUDY["seed"],
            testbed=TESTBED_DIGEST,
            image=TESTBED_IMAGE,
            job=job_with(),
        shell:
            CARRY_OUT

elif EMULATED:

    # What a call or profile sets for `emulate_run` holds for these jobs too.
    SET_FOR_EACH_JOB = {name: value for name, value in RUN_RESOURCES.items() if name != "runs"}

    # The n-th job of a scenario: several runs, one after another. Each is kept as soon as it is
    # whole (`update`), and a job that is started again carries out those that are missing.
    for number, job in enumerate(studies.job_runs(STUDY, RUNS_PER_JOB), 1):

        rule:
            name:
                f"emulate_runs_{number}"
            input:
                kernel=kernel_file(job[0][0]),
            output:
                update(
                    [
                        f"results/{{study}}/runs/{{scenario}}/{cca}/{ip_version}/{replication}.json.gz"
                        for cca, ip_version, replication in job
                    ]
                ),
            log:
                f"results/{{study}}/logs/jobs/{{scenario}}/{number}-of-{RUNS_PER_JOB}.log",
            benchmark:
                f"results/{{study}}/benchmarks/jobs/{{scenario}}/{number}-of-{RUNS_PER_JOB}.tsv"
            wildcard_constraints:
                scenario=EMULATED,
            container:
                "envs/testbed.sif"
            resources:
                **{
                    "mem_mb": job_memory,
                    "runtime": lambda wildcards: job_runtime_min(CONDITIONS[wildcards.scenario], RUNS_PER_JOB),
                    "wall_limit_s": lambda wildcards: wall_limit_s(CONDITIONS[wildcards.scenario]),
                }
                | SET_FOR_EACH_JOB,
            params:
                conditions=conditions_of(job[0][-1], job[0][0]),
                study_seed=STUDY["seed"],
                testbed=TESTBED_DIGEST,
                image=TESTBED_IMAGE,
                job=job_with(log=f"results/{{study}}/logs/jobs/{{scenario}}/{number}-of-{RUNS_PER_JOB}.log"),
            shell:
                CARRY_OUT


if MEASURED:

    # One run under the machine's own kernel and clock. It has all cores, so that nothing of this workflow goes
    # on beside it; of others it waits for those that have one (`testbed.machine.whole_machine`).
    rule measure_run:
        output:
            document="results/{study}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz",
        log:
            "results/{study}/logs/runs/{scenario}/{cca}/{ip_version}/{replication}.log",
        benchmark:
            "results/{study}/benchmarks/runs/{scenario}/{cca}/{ip_version}/{replication}.tsv"
        wildcard_constraints:
            scenario=MEASURED,
        container:
            "envs/testbed.sif"
        threads: workflow.cores or 1
        resources:
            mem_mb=job_memory,
            runtime=lambda wildcards: job_runtime_min(CONDITIONS[wildcards.scenario], 1),
            wall_limit_s=lambda wildcards: wall_limit_s(CONDITIONS[wildcards.scenario]),
        params:
            conditions=conditions_of(),
            study_seed=STUDY["seed"],
            testbed=TESTBED_DIGEST,
            image=TESTBED_IMAGE,
            job=job_with(),
        shell:
            CARRY_OUT


if SIMULATED:

    # One run in the ns-3 simulator: minutes, so always a job of its own.
    rule simulate_run:
        output:
            document="results/{study}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz",
        log:
            "results/{study}/logs/runs/{scenario}/{cca}/{ip_version}/{replication}.log",
        benchmark:
            "results/{study}/benchmarks/runs/{scenario}/{cca}/{ip_version}/{replication}.tsv"
        wildcard_constraints:
            scenario=SIMULATED,
        container:
            "envs/ns3.sif"
        resources:
            mem_mb=job_memory,
            runtime=lambda wildcards: job_runtime_min(CONDITIONS[wildcards.scenario], 1),
            wall_limit_s=lambda wildcards: wall_limit_s(CONDITIONS[wildcards.scenario]),
        params:
            conditions=conditions_of(),
            study_seed=STUDY["seed"],
            testbed=MADE_BY["ns3"]["testbed_digest"],
            image=MADE_BY["ns3"]["image_digest"],
            job=job_with(),
        shell:
            CARRY_OUT
