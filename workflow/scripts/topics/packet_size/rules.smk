# Packet size: runs, flows, scenarios -> analysis/size_{cells,differences}.csv


# Each cell against what headers alone make of it; IP versions, environments and platforms against each other.
# `other_size_cells` are the same cells on the other platform, if that study was analysed.
rule measure_sizes:
    input:
        **table_paths(("other_size_cells",), DESIGN),
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        size_cells="results/{study}/analysis/size_cells.csv",
        size_differences="results/{study}/analysis/size_differences.csv",
    log:
        "results/{study}/logs/measure_sizes.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/packet_size/measure_sizes"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        printed=CLAIMS and CLAIMS["paper"].get("cells"),
    script:
        "measure_sizes.py"
