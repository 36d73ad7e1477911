# Cells: runs -> analysis/{descriptive,steady}.csv


# Mean with interval, spread and normality of each metric in each cell.
rule describe_cells:
    input:
        runs="results/{study}/tidy/runs.csv",
    output:
        descriptive="results/{study}/analysis/descriptive.csv",
    log:
        "results/{study}/logs/describe_cells.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/cells/describe_cells"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "describe_cells.py"


# Each metric's steady part beside the whole run, which start-up is part of.
rule compare_steady:
    input:
        runs="results/{study}/tidy/runs.csv",
    output:
        steady="results/{study}/analysis/steady.csv",
    log:
        "results/{study}/logs/compare_steady.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/cells/compare_steady"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
    script:
        "compare_steady.py"
