# Several paths: runs, what each path carried, time series and CPU times -> analysis/{aggregation,path_shares}.csv and figures


# Each cell over several paths against the same over one; what each path carried.
rule compare_paths:
    input:
        runs="results/{study}/tidy/runs.csv",
        paths="results/{study}/tidy/paths.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        aggregation="results/{study}/analysis/aggregation.csv",
        path_shares="results/{study}/analysis/path_shares.csv",
    log:
        "results/{study}/logs/compare_paths.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/multipath/compare_paths"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "compare_paths.py"
