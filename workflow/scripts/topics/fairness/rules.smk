# Fairness: runs and flows -> analysis/flow_shares.csv -> analysis/{shares,share_pairs,start_order}.csv;
# with the scenarios -> analysis/{fairness_factors,share_theory}.csv


# Each flow's share of the link in each run, over the time that all flows have in common.
rule measure_shares:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        flow_shares="results/{study}/analysis/flow_shares.csv",
    log:
        "results/{study}/logs/measure_shares.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/fairness/measure_shares"),
        image=ANALYSIS_IMAGE,
    script:
        "measure_shares.py"


# By mix and flow, CCA against CCA, and by the order of starting.
rule compare_shares:
    input:
        flow_shares="results/{study}/analysis/flow_shares.csv",
    output:
        shares="results/{study}/analysis/shares.csv",
        share_pairs="results/{study}/analysis/share_pairs.csv",
        start_order="results/{study}/analysis/start_order.csv",
    log:
        "results/{study}/logs/compare_shares.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/fairness/compare_shares"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
        seed=STUDY["seed"],
    script:
        "compare_shares.py"


# Each level of delay, loss, rate, RTT ratio and buffer against the base, and shares beside theory.
rule compare_factors:
    input:
        flow_shares="results/{study}/analysis/flow_shares.csv",
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
    output:
        fairness_factors="results/{study}/analysis/fairness_factors.csv",
        share_theory="results/{study}/analysis/share_theory.csv",
    log:
        "results/{study}/logs/compare_factors.log",
    container:
        "envs/analysis.sif"
    params:
        code=code_of("topics/fairness/compare_factors"),
        image=ANALYSIS_IMAGE,
        confidence=SETTINGS["confidence"],
        significance=SETTINGS["significance"],
    script:
        "compare_factors.py"
