# Repetitions: runs with declared programs -> the same runs again -> analysis/repetitions.csv


LABELS = {scenario["id"]: scenario["label"] for scenario in STUDY["scenarios"]}


def repetition_of(run):
    """Return the path of the document of a run's second execution; ``run`` is (scenario, CCA, IP version, replication)."""
    return f"results/{STUDY['study']}/logs/repetitions/{'/'.join(map(str, run))}.json.gz"


# With gaps=true, only existing documents are compared. Without any, as in received results, an existing table is kept.
REPEATED = {
    run: programs
    for run, programs in runs_to_repeat(STUDY, studies.runs(STUDY)).items()
    if not GAPS
    or all(
        Path(inside_snakemake.path_in_module(workflow, of_run(run))).exists() for of_run in (document_of, repetition_of)
    )
}
IS_KEPT = GAPS and not REPEATED and (Path(STUDY_FOLDER) / REPETITIONS.path).exists()


def specification_of(wildcards):
    """Return a run's specification as JSON."""
    cca, replication = wildcards.cca, int(wildcards.replication)
    seed = studies.seed_of_run(STUDY, wildcards.scenario, replication)
    of_run = {"cca": cca, "ip_version": wildcards.ip_version, "replication": replication, "seed": seed}
    return json.dumps(json.loads(conditions_of(wildcards.scenario, cca, replication)) | of_run)


# The second execution of a run. It never comes from the run cache.
rule repeat_run:
    input:
        # Both executions have the same parameters, so a repetition is as up to date as its parameters.
        document=ancient("results/{study}/runs/{scenario}/{cca}/{ip_version}/{replication}.json.gz"),
        kernel=ancient(lambda wildcards: kernel_for(wildcards.scenario, wildcards.cca)),
        programs=ancient(lambda wildcards: archives_for(wildcards.scenario, wildcards.cca)),
    output:
        # Kept, so that a change to the comparison or to a label executes nothing again.
        document="results/{study}/logs/repetitions/{scenario}/{cca}/{ip_version}/{replication}.json.gz",
    log:
        "results/{study}/logs/repetitions/{scenario}/{cca}/{ip_version}/{replication}.log",
    container:
        "envs/testbed.sif"
    resources:
        **ONE_RUN | SET_FOR_RUNS,
    params:
        specification=specification_of,
        testbed=TESTBED_DIGEST,
        image=TESTBED_IMAGE,
        folder=STUDY_FOLDER,
    shell:
        f"PYTHONPATH={in_command(own('workflow'))} python3 -m testbed --specification {{params.specification:q}}"
        " --output {output.document:q} --testbed-digest {params.testbed:q} --wall-limit-s {resources.wall_limit_s}"
        " --kernels {params.folder:q}/kernels --programs {params.folder:q}/programs 2> {log:q}"


if not IS_KEPT:

    rule compare_repetitions:
        input:
            documents=[document_of(run) for run in REPEATED],
            repetitions=[repetition_of(run) for run in REPEATED],
        output:
            repetitions="results/{study}/analysis/repetitions.csv",
        log:
            "results/{study}/logs/compare_repetitions.log",
        container:
            "envs/analysis.sif"
        params:
            code=code_of("topics/repetitions/compare_repetitions"),
            image=ANALYSIS_IMAGE,
            # The first columns of the table.
            runs=[("; ".join(programs), run[0], LABELS[run[0]], *run[1:]) for run, programs in REPEATED.items()],
        script:
            "compare_repetitions.py"
