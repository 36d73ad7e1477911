# What the runs are, and the parameters of their jobs: all that kernels.smk and emulate.smk need
# Guest kernels of the study's own, of a study that has any
LINUX_SHA256 = image_fact(own("envs/testbed.json"), "linux_sha256", needed=NEEDS_IMAGES)
KERNELS = kernels_of(STUDY, LINUX_SHA256)


def kernel_file(cca=None):
    """Return the function of a job's input: the kernel that its CCA or mix needs besides the image's, if any."""

    def file(wildcards):
        defined = studies.definitions_in(STUDY, wildcards.scenario, cca or wildcards.cca)
        name = kernel_of(defined, LINUX_SHA256)
        return [os.path.join("results", wildcards.study, "kernels", name, "linux")] if name else []

    return ancient(file)


# Archives of the files of declared programs, by their names, and the programs among the study's CCAs
PROGRAMS, UNDER_TEST = program_files_of(STUDY), programs_under_test(STUDY)


def program_archives(cca=None):
    """Return the function of a job's input: the archives of the declared programs that its CCA and its scenario's groups need."""

    def archives(wildcards):
        own = UNDER_TEST.get(cca or wildcards.cca)
        of_job = {
            "scenarios": [one for one in STUDY["scenarios"] if one["id"] == wildcards.scenario],
            "programs": {own["name"]: own} if own else {},
        }
        return [
            os.path.join("results", wildcards.study, "programs", f"{name}.tar") for name in program_files_of(of_job)
        ]

    return ancient(archives)


def files_of_program(wildcards):
    """Return where the user keeps a program's files."""
    return users(PROGRAMS[wildcards.program]["path"])


def files_of_kernel(name):
    """Return the files that a kernel is made of, by its name."""
    kernel, sources = KERNELS[name]
    # A patch is needed no longer once its kernel is built.
    patches = [patch["path"] for patch in (kernel or {}).get("patches", [])]
    return [*map(users, filter(os.path.exists, patches)), *(users(one.source) for one in sources)]


# Control runs are runs like any other until they are tidied.
RUN_DOCUMENTS = [
    f"results/{STUDY['study']}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz"
    for scenario, cca, ip_version, replication in studies.all_runs(
        STUDY, studies.wanted_replications(STUDY, STUDY_FOLDER) if GAPS else None
    )
]
if GAPS:
    RUN_DOCUMENTS = [path for path in RUN_DOCUMENTS if Path(inside_snakemake.path_in_module(workflow, path)).exists()]
    if not RUN_DOCUMENTS:
        sys.exit(said(f"--config gaps=true: {STUDY_FOLDER}/runs has no document of a run yet"))
# A study that goes on until it is precise enough may have fewer: looks.smk.
POSSIBLE_DOCUMENTS = RUN_DOCUMENTS
MOST_DOCUMENTS = len(POSSIBLE_DOCUMENTS)
# What the runs of a scenario share, at the upper ends of what is drawn: what a job must have room for.
CONDITIONS = {scenario: studies.largest_conditions(STUDY, scenario) for scenario in SCENARIOS}
# The same as the testbed gets it, of scenarios of which nothing is drawn.
CONDITIONS_JSON = {
    scenario["id"]: json.dumps(CONDITIONS[scenario["id"]])
    for scenario in STUDY["scenarios"]
    if not studies.is_varied(scenario)
}


# Snakemake records this of the study and the seed with each document, and nothing of the job: how many runs go
# to a job makes none of them stale.
def conditions_of(replication=None, cca=None):
    """Return the function of a job's parameter: the conditions of its runs as JSON, which have one replication where they are
    drawn, and one CCA where the study defines any.

    It asks the wildcards alone: Snakemake notices no change of what follows from a job's files.
    """

    def conditions(wildcards):
        of_run = cca or wildcards.cca
        defined = studies.definitions_in(STUDY, wildcards.scenario, of_run)
        if wildcards.scenario in CONDITIONS_JSON and not defined and of_run not in UNDER_TEST:
            return CONDITIONS_JSON[wildcards.scenario]
        numbered = replication or wildcards.replication if wildcards.scenario not in CONDITIONS_JSON else None
        return json.dumps(studies.run_conditions(STUDY, wildcards.scenario, numbered, of_run))

    return conditions


# By which a job notices that the testbed was edited after its identity was computed (`testbed.job.still_valid`).
PROGRAM_CONTENT = program_content()

# The same for every job, or the text of a rule would make runs stale.
CARRY_OUT = (
    f"PYTHONPATH={in_command(own('workflow'))} python3 -m testbed.job"
    " --conditions {params.conditions:q} --testbed-digest {params.testbed:q} --job {params.job:q}"
    f" --folder {in_command(RESULTS)}/{{wildcards.study:q}} --wall-limit-s {{resources.wall_limit_s}}"
)


def job_with(log=None):
    """Return the function of a job's parameter: its runs (CCA, IP version, replication, seed), its log and the program's content as JSON.

    Snakemake records nothing of it: it follows from the job's files.
    """

    def job(wildcards, output):
        factors = (path.removesuffix(".json.gz").split("/")[-4:] for path in output)
        runs = [
            [cca, ip_version, int(replication), studies.seed_of_run(STUDY, scenario, replication)]
            for scenario, cca, ip_version, replication in factors
        ]
        job = {"runs": runs, "log": log and log.format(**wildcards), "program": PROGRAM_CONTENT}
        return json.dumps(job, separators=(",", ":"))

    return job


def conditions_of_job(wildcards):
    """Return the conditions of a scenario's runs at their upper ends: those of the kernel's CCAs, and of each program under test."""
    return [CONDITIONS[wildcards.scenario]] + [
        studies.largest_conditions(STUDY, wildcards.scenario, cca) for cca in UNDER_TEST
    ]


def job_minutes(runs):
    """Return the function of a job's time for so many runs, in minutes."""
    return lambda wildcards: max(job_runtime_min(one, runs) for one in conditions_of_job(wildcards))


def job_memory(wildcards):
    # A job may have runs of every CCA.
    every = "+".join(STUDY["ccas"])
    defined = {"cca_definitions": studies.definitions_in(STUDY, wildcards.scenario, every)}
    return max(job_memory_mb({**one, **defined, "cca": every}) for one in conditions_of_job(wildcards))


def scenarios_on(platform):
    """Return the scenarios of a platform as a wildcard's constraint; an empty text if there are none."""
    return "|".join(re.escape(name) for name in SCENARIOS if PLATFORMS[name] == platform)


EMULATED, MEASURED, SIMULATED = scenarios_on("uml"), scenarios_on("host"), scenarios_on("ns3")
