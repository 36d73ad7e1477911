# Fail-over: runs, scenarios and time series -> analysis/failovers.csv


# What the paths of MPTCP carry before, while and after one of them is down.
rule measure_failovers:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        sockets="results/{study}/tidy/sockets.parquet",
    output:
        failovers="results/{study}/analysis/failovers.csv",
    log:
        "results/{study}/logs/measure_failovers.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/failover/measure_failovers"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "measure_failovers.py"
