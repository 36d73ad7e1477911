# The study's runs and the parameters of their jobs, for kernels.smk and emulate.smk
# Guest kernels that the study defines, if any
LINUX_SHA256 = image_fact(own("envs/testbed.json"), "linux_sha256", needed=NEEDS_IMAGES)
KERNELS = kernels_of(STUDY, LINUX_SHA256)


def kernel_for(scenario, cca):
    """Return a list with the path of the custom kernel that runs need; empty if runs need only the image's kernel."""
    name = kernel_of(studies.definitions_in(STUDY, scenario, cca), LINUX_SHA256)
    return [f"results/{STUDY['study']}/kernels/{name}/linux"] if name else []


# Files of declared programs by the name of their archive, and the programs among the study's CCAs
PROGRAMS, UNDER_TEST = program_files_of(STUDY), programs_under_test(STUDY)


def archives_for(scenario, cca):
    """Return the archives of the declared programs that runs need: of the program under test, and of the scenario's programs."""
    own = UNDER_TEST.get(cca)
    of_runs = {
        "scenarios": [one for one in STUDY["scenarios"] if one["id"] == scenario],
        "programs": {own["name"]: own} if own else {},
    }
    return [f"results/{STUDY['study']}/programs/{name}.tar" for name in program_files_of(of_runs)]


@cache
def needs_of(scenario, cca):
    """Return the files that runs need: the kernel, and the archives of programs."""
    return tuple(kernel_for(scenario, cca)), tuple(archives_for(scenario, cca))


def files_of_program(wildcards):
    """Return the path at which the user keeps a program's files."""
    return users(PROGRAMS[wildcards.program]["path"])


def files_of_kernel(name):
    """Return the files from which the kernel with a given name is built."""
    kernel, sources = KERNELS[name]
    # A patch is no longer needed once the kernel is built.
    patches = [patch["path"] for patch in (kernel or {}).get("patches", [])]
    return [*map(users, filter(os.path.exists, patches)), *(users(one.source) for one in sources)]


def document_of(run):
    """Return the path of a run document; ``run`` is (scenario, CCA, IP version, replication)."""
    return f"results/{STUDY['study']}/runs/{'/'.join(map(str, run))}.json.gz"


def factors_of(path):
    """Return a run's scenario, CCA, IP version and replication, as strings, from the path of the run document."""
    return str(path).removesuffix(".json.gz").split("/")[-4:]


# Control runs are runs like any other until they are tidied.
RUN_DOCUMENTS = [
    document_of(run)
    for run in studies.all_runs(STUDY, studies.wanted_replications(STUDY, STUDY_FOLDER) if GAPS else None)
]
if GAPS:
    RUN_DOCUMENTS = [path for path in RUN_DOCUMENTS if Path(inside_snakemake.path_in_module(workflow, path)).exists()]
    if not RUN_DOCUMENTS:
        sys.exit(said(f"--config gaps=true: {STUDY_FOLDER}/runs has no document of a run yet"))
# A study that continues until its means are precise enough may need fewer documents (looks.smk).
POSSIBLE_DOCUMENTS = RUN_DOCUMENTS
MOST_DOCUMENTS = len(POSSIBLE_DOCUMENTS)
# Conditions of a scenario's runs, with the largest values of conditions that are drawn at random: a job needs enough resources for these.
CONDITIONS = {scenario: studies.largest_conditions(STUDY, scenario) for scenario in SCENARIOS}
# The same conditions as JSON for the testbed, only for scenarios in which no condition is drawn at random.
CONDITIONS_JSON = {
    scenario["id"]: json.dumps(CONDITIONS[scenario["id"]])
    for scenario in STUDY["scenarios"]
    if not studies.is_varied(scenario)
}


# Snakemake records these conditions and the seed with each document, but nothing about the job, so
# documents stay up to date if the number of runs per job changes.
def conditions_of(scenario, cca, replication):
    """Return a run's conditions as JSON: the scenario's conditions, drawn for the replication, and the definitions that the run needs."""
    defined = studies.definitions_in(STUDY, scenario, cca)
    if scenario in CONDITIONS_JSON and not defined and cca not in UNDER_TEST:
        return CONDITIONS_JSON[scenario]
    numbered = None if scenario in CONDITIONS_JSON else replication
    return json.dumps(studies.run_conditions(STUDY, scenario, numbered, cca))


def conditions_of_document(path):
    """Return a run's conditions as JSON, from the path of the run document."""
    scenario, cca, _, replication = factors_of(path)
    return conditions_of(scenario, cca, replication)


# With this digest, a job detects that the testbed was edited after the testbed's digest was computed (`testbed.job.still_valid`).
PROGRAM_CONTENT = program_content()

# The same command for every job. Otherwise a change to a rule's text would make runs stale.
CARRY_OUT = (
    f"PYTHONPATH={in_command(own('workflow'))} python3 -m testbed.job"
    " --conditions {params.conditions:q} --testbed-digest {params.testbed:q} --job {params.job:q}"
    f" --folder {in_command(STUDY_FOLDER)} --wall-limit-s {{resources.wall_limit_s}}"
)


def job_with(log=None):
    """Return a function that computes a job's parameter ``job``.

    The parameter is JSON with the job's runs (CCA, IP version, replication, seed), the job's log, and `PROGRAM_CONTENT`. Snakemake
    doesn't record the parameter, because it follows from the job's files.
    """

    def job(wildcards, output):
        runs = [
            [cca, ip_version, int(replication), studies.seed_of_run(STUDY, scenario, replication)]
            for scenario, cca, ip_version, replication in map(factors_of, output)
        ]
        return json.dumps({"runs": runs, "log": log, "program": PROGRAM_CONTENT}, separators=(",", ":"))

    return job


def conditions_of_all(wildcards, output):
    """Return the parameter ``conditions`` of a job with several runs: the conditions of each run, packed for a command line."""
    return packed_conditions([json.loads(conditions_of_document(path)) for path in output])


def largest_of(scenario):
    """Return a scenario's largest conditions: with the kernel's CCAs, and with each program under test."""
    return [CONDITIONS[scenario]] + [studies.largest_conditions(STUDY, scenario, cca) for cca in UNDER_TEST]


@cache
def seconds_of(scenario):
    """Return an upper bound on the core-seconds that a run of a scenario takes."""
    return max(map(run_time_s, largest_of(scenario)))


@cache
def expected_s(scenario, cca):
    """Return the expected core-seconds of a run."""
    largest = studies.largest_conditions(STUDY, scenario, cca) if cca in UNDER_TEST else CONDITIONS[scenario]
    return sum(work_of_run(largest))


@cache
def memory_of(scenario):
    """Return the memory in MB that a job with runs of a scenario needs with any of the study's CCAs."""
    every = "+".join(STUDY["ccas"])
    defined = {"cca_definitions": studies.definitions_in(STUDY, scenario, every)}
    return max(job_memory_mb({**one, **defined, "cca": every}) for one in largest_of(scenario))


@cache
def limit_of(scenario):
    """Return the wall-clock seconds after which a run of a scenario is terminated."""
    return wall_limit_s(CONDITIONS[scenario])


# Resources of a job with one run.
ONE_RUN = {
    "mem_mb": lambda wildcards: memory_of(wildcards.scenario),
    "runtime": lambda wildcards: job_runtime_min(seconds_of(wildcards.scenario)),
    "wall_limit_s": lambda wildcards: limit_of(wildcards.scenario),
}

# Resources that the command line or a profile sets for `emulate_run`; they also apply to jobs with several runs, and to repetitions.
SET_FOR_RUNS = {name: value for name, value in RUN_RESOURCES.items() if name not in ("runs", "minutes")}


SCENARIOS_OF = {name: [one for one in SCENARIOS if PLATFORMS[one] == name] for name in ("uml", "host", "ns3")}
# The same scenarios as wildcard constraints; an empty string if there are none.
EMULATED, MEASURED, SIMULATED = ("|".join(map(re.escape, names)) for names in SCENARIOS_OF.values())
