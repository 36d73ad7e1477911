# Queues: runs and scenarios -> analysis/queue_cells.csv


# Delay, goodput, drops and marks of each cell, with their intervals over the replications.
rule describe_queues:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        queue_cells="results/{study}/analysis/queue_cells.csv",
    log:
        "results/{study}/logs/describe_queues.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/queues/describe_queues"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "describe_queues.py"
