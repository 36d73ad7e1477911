# Buffers: runs, flows and scenarios -> analysis/flow_goodput.csv, flow_goodput_cells.csv


# Each run's flows as a distribution, and its numbers over the replications with their intervals.
rule describe_flows:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        flow_goodput="results/{study}/analysis/flow_goodput.csv",
        flow_goodput_cells="results/{study}/analysis/flow_goodput_cells.csv",
    log:
        "results/{study}/logs/describe_flows.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/buffers/describe_flows"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "describe_flows.py"
