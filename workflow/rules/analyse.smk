# Analysis: tidy tables -> analysis/descriptive.csv, analysis/validity.csv, analysis/checks.csv


# Mean with interval, spread and normality of each metric in each cell.
rule describe_cells:
    input:
        runs="results/{study}/tidy/runs.csv",
        modules=[
            "workflow/scripts/image_libraries.py",
            "workflow/scripts/script_log.py",
            "workflow/scripts/metrics.py",
            "workflow/scripts/tidy_columns.py",
        ],
    output:
        descriptive="results/{study}/analysis/descriptive.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
    log:
        "results/{study}/logs/describe_cells.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/describe_cells.py"


# Valid and excluded runs of each cell, passed and failed runs of each check.
rule summarise_validity:
    input:
        runs="results/{study}/tidy/runs.csv",
        checks="results/{study}/tidy/checks.csv",
        modules=[
            "workflow/scripts/image_libraries.py",
            "workflow/scripts/script_log.py",
            "workflow/scripts/tidy_columns.py",
        ],
    output:
        validity="results/{study}/analysis/validity.csv",
        checks="results/{study}/analysis/checks.csv",
    params:
        image=ANALYSIS_IMAGE,
    log:
        "results/{study}/logs/summarise_validity.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/summarise_validity.py"
