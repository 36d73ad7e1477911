# Policers: runs -> analysis/policer_cells.csv


# Loss and goodput of each cell, with their intervals over the replications.
rule describe_policers:
    input:
        runs="results/{study}/tidy/runs.csv",
    output:
        policer_cells="results/{study}/analysis/policer_cells.csv",
    log:
        "results/{study}/logs/describe_policers.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/policers/describe_policers"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        policers={
            scenario["id"]: "{rate_mbps:g} Mbit/s, {burst_bytes:,} bytes".format(**scenario["link"]["policer"])
            for scenario in STUDY["scenarios"]
            if scenario["link"]["policer"]
        },
    script:
        "describe_policers.py"
