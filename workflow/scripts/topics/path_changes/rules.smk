# Paths that change: runs, changes and samples -> analysis/{change_responses,change_cells}.csv


# What flows do in each phase of their path: when they use its rate, their queue, losses, and what they believe of it.
rule measure_responses:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        changes="results/{study}/tidy/changes.csv",
        sockets="results/{study}/tidy/sockets.parquet",
        queue="results/{study}/tidy/queue.parquet",
    output:
        change_responses="results/{study}/analysis/change_responses.csv",
        change_cells="results/{study}/analysis/change_cells.csv",
    log:
        "results/{study}/logs/measure_responses.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/path_changes/measure_responses"),
        image=ANALYSIS_IMAGE,
    script:
        "measure_responses.py"
