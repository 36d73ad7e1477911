# Over time: runs, flows and samples of their sockets -> analysis/{phases,phase_shares,teeth,sawtooth,window_theory,flow_outcomes}.csv


# What each flow's congestion control is doing when, and for what share of its time.
rule find_phases:
    input:
        runs="results/{study}/tidy/runs.csv",
        sockets="results/{study}/tidy/sockets.parquet",
    output:
        phases="results/{study}/analysis/phases.csv",
        phase_shares="results/{study}/analysis/phase_shares.csv",
    log:
        "results/{study}/logs/find_phases.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/time_series/find_phases"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "find_phases.py"


# Windows against theory: teeth of loss-based CCAs, packets that Vegas queues, BBR's looks for a smaller RTT.
rule measure_sawtooth:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        flows="results/{study}/tidy/flows.csv",
        sockets="results/{study}/tidy/sockets.parquet",
    output:
        teeth="results/{study}/analysis/teeth.csv",
        sawtooth="results/{study}/analysis/sawtooth.csv",
        window_theory="results/{study}/analysis/window_theory.csv",
    log:
        "results/{study}/logs/measure_sawtooth.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/time_series/measure_sawtooth"),
        image=ANALYSIS_IMAGE,
        # Theory knows paths that stay as they are.
        changing=DESIGN.changing_scenarios,
        confidence=SETTINGS["confidence"],
    script:
        "measure_sawtooth.py"


# Goodput of the flows of a run, from the least to the most, and what they sent again.
rule compare_flows:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
    output:
        flow_outcomes="results/{study}/analysis/flow_outcomes.csv",
    log:
        "results/{study}/logs/compare_flows.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/time_series/compare_flows"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
    script:
        "compare_flows.py"
