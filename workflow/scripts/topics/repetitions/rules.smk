# Repetitions: runs with declared programs -> the same runs again -> analysis/repetitions.csv


LABELS = {scenario["id"]: scenario["label"] for scenario in STUDY["scenarios"]}
CHOSEN = runs_to_repeat(STUDY, studies.runs(STUDY))
# Run -> path of the document of its second execution
REPETITIONS_OF = {run: f"results/{STUDY['study']}/{repetition_path(run)}" for run in CHOSEN}
# With gaps=true, only existing documents are compared. Without any, as in received results, an existing table is kept.
REPEATED = [
    run
    for run, path in REPETITIONS_OF.items()
    if not GAPS
    or all(Path(inside_snakemake.path_in_module(workflow, one)).exists() for one in (document_of(run), path))
]
IS_KEPT = GAPS and not REPEATED and (Path(STUDY_FOLDER) / REPETITIONS.path).exists()


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
        specification=lambda wildcards: json.dumps(
            studies.run_specification(
                STUDY, wildcards.scenario, wildcards.cca, wildcards.ip_version, int(wildcards.replication)
            )
        ),
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
            repetitions=[REPETITIONS_OF[run] for run in REPEATED],
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
            runs=[("; ".join(CHOSEN[run]), run[0], LABELS[run[0]], *run[1:]) for run in REPEATED],
        script:
            "compare_repetitions.py"
