# Real-time streams: groups and scenarios -> analysis/real_time_cells.csv


# Delay, jitter and loss of each cell, with their intervals over the replications.
rule describe_real_time:
    input:
        groups="results/{study}/tidy/groups.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        real_time_cells="results/{study}/analysis/real_time_cells.csv",
    log:
        "results/{study}/logs/describe_real_time.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/real_time/describe_real_time"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "describe_real_time.py"
