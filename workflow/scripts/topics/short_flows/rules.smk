# Short flows: groups, objects and scenarios -> analysis/{short_flow_cells,short_flow_sizes}.csv


# Completion times and slowdowns of each cell, with their intervals over the replications, and by size.
rule describe_short_flows:
    input:
        groups="results/{study}/tidy/groups.csv",
        short_flows="results/{study}/tidy/short_flows.parquet",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        short_flow_cells="results/{study}/analysis/short_flow_cells.csv",
        short_flow_sizes="results/{study}/analysis/short_flow_sizes.csv",
    log:
        "results/{study}/logs/describe_short_flows.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/short_flows/describe_short_flows"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "describe_short_flows.py"
