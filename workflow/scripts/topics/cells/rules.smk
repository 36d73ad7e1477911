# Cells: runs -> analysis/descriptive.csv


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
