# Bottlenecks in a row: runs, flows, bottlenecks and scenarios -> analysis/chain_cells.csv


# Share of the flows over all bottlenecks in each cell, with its interval, and what theory says of it.
rule describe_chains:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        bottlenecks="results/{study}/tidy/bottlenecks.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        chain_cells="results/{study}/analysis/chain_cells.csv",
    log:
        "results/{study}/logs/describe_chains.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/chain/describe_chains"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "describe_chains.py"
