# Subflows over one bottleneck: runs, flows and scenarios -> analysis/subflow_shares.csv


# What MPTCP's subflows take of a bottleneck that they share with other flows.
rule describe_subflows:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        subflow_shares="results/{study}/analysis/subflow_shares.csv",
    log:
        "results/{study}/logs/describe_subflows.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/subflows/describe_subflows"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "describe_subflows.py"
