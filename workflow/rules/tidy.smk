# Tidying: run documents -> tidy/{runs,flows,checks,scenarios}.csv, runs and intervals as Parquet


rule tidy_runs:
    input:
        documents=RUN_DOCUMENTS,
        modules=[
            f"workflow/scripts/{name}.py"
            for name in ("run_documents", "run_metrics", "tidy_rows", "study_runs", "image_libraries", "script_log")
        ],
    output:
        runs="results/{study}/tidy/runs.csv",
        runs_parquet="results/{study}/tidy/runs.parquet",
        flows="results/{study}/tidy/flows.csv",
        intervals="results/{study}/tidy/intervals.parquet",
        checks="results/{study}/tidy/checks.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        provenance="results/{study}/tidy/provenance.json",
    params:
        image=ANALYSIS_IMAGE,
        study=STUDY,
        snakemake_version=SNAKEMAKE_VERSION,
    log:
        "results/{study}/logs/tidy_runs.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/tidy_runs.py"
