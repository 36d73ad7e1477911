# Tidying: run documents -> tidy/{runs,flows,paths,bottlenecks,checks,scenarios}.csv, runs, intervals, series and CPU times as Parquet


# On a cluster, each job has one core, because a node may have no more.
TIDY_THREADS = lambda wildcards: TIDY_PROCESSES if inside_snakemake.runs_jobs_here(workflow) else 1
TIDY_MEMORY = lambda wildcards, threads: TIDY_MB + threads * TIDY_PROCESS_MB


# Checks that all documents can be used. This is a separate rule, because Snakemake deletes all outputs of a failed job.
rule check_documents:
    input:
        documents=RUN_DOCUMENTS,
        # The schema's modification time is irrelevant: documents of another form come from a testbed with another digest.
        schema=ancient(own("workflow/schemas/run.schema.json")),
    output:
        in_order="results/{study}/logs/documents-in-order.txt",
    log:
        "results/{study}/logs/check_documents.log",
    container:
        "envs/analysis.sif"
    threads: TIDY_THREADS
    resources:
        mem_mb=TIDY_MEMORY,
        runtime=tidy_runtime_min(MOST_DOCUMENTS),
    params:
        code=code_of("run_tables/check_documents"),
        image=ANALYSIS_IMAGE,
        made_by=MADE_BY,
        study=studies.measured(STUDY),
    script:
        "../scripts/run_tables/check_documents.py"


rule tidy_runs:
    input:
        documents=RUN_DOCUMENTS,
        in_order="results/{study}/logs/documents-in-order.txt",
    output:
        **({"controls": "results/{study}/tidy/controls.csv"} if STUDY["controls"] == "aa" else {}),
        **({"changes": "results/{study}/tidy/changes.csv"} if DESIGN.changing_scenarios else {}),
        **(
            {"groups": "results/{study}/tidy/groups.csv", "short_flows": "results/{study}/tidy/short_flows.parquet"}
            if has_grouped_runs(STUDY)
            else {}
        ),
        runs="results/{study}/tidy/runs.csv",
        runs_parquet="results/{study}/tidy/runs.parquet",
        flows="results/{study}/tidy/flows.csv",
        intervals="results/{study}/tidy/intervals.parquet",
        sockets="results/{study}/tidy/sockets.parquet",
        queue="results/{study}/tidy/queue.parquet",
        cpu="results/{study}/tidy/cpu.parquet",
        checks="results/{study}/tidy/checks.csv",
        paths="results/{study}/tidy/paths.csv",
        bottlenecks="results/{study}/tidy/bottlenecks.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        provenance="results/{study}/tidy/provenance.json",
    log:
        "results/{study}/logs/tidy_runs.log",
    container:
        "envs/analysis.sif"
    threads: TIDY_THREADS
    resources:
        mem_mb=TIDY_MEMORY,
        runtime=tidy_runtime_min(MOST_DOCUMENTS),
    params:
        code=code_of("run_tables/tidy_runs"),
        image=ANALYSIS_IMAGE,
        made_by=MADE_BY,
        # Without the keys that only define comparisons.
        study=studies.measured(STUDY),
        snakemake_version=SNAKEMAKE_VERSION,
    script:
        "../scripts/run_tables/tidy_runs.py"
