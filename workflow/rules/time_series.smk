# Over time: samples of sockets and queue -> analysis/{phases,sawtooth,window_theory,...}.csv and figures/windows*.svg
from study_topics.time_series import pictures


# What each flow's congestion control is doing when, and for what share of its time.
rule find_phases:
    input:
        runs="results/{study}/tidy/runs.csv",
        sockets="results/{study}/tidy/sockets.parquet",
        modules=modules_of("find_phases"),
    output:
        phases="results/{study}/analysis/phases.csv",
        phase_shares="results/{study}/analysis/phase_shares.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
    log:
        "results/{study}/logs/find_phases.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/find_phases.py"


# Windows against theory: teeth of loss-based CCAs, packets that Vegas queues, BBR's looks for a smaller RTT.
rule measure_sawtooth:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        flows="results/{study}/tidy/flows.csv",
        sockets="results/{study}/tidy/sockets.parquet",
        modules=modules_of("measure_sawtooth"),
    output:
        teeth="results/{study}/analysis/teeth.csv",
        sawtooth="results/{study}/analysis/sawtooth.csv",
        window_theory="results/{study}/analysis/window_theory.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
    log:
        "results/{study}/logs/measure_sawtooth.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/measure_sawtooth.py"


# Goodput of the flows of a run, from the least to the most, and what they sent again.
rule compare_flows:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        modules=modules_of("compare_flows"),
    output:
        flow_outcomes="results/{study}/analysis/flow_outcomes.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
    log:
        "results/{study}/logs/compare_flows.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/compare_flows.py"


# The first valid run of a cell over time, if the cells aren't too many to look at.
for picture in pictures(OUTLINE.design):

    rule:
        name:
            f"plot_{picture.slug.replace('-', '_')}"
        input:
            runs="results/{study}/tidy/runs.csv",
            scenarios="results/{study}/tidy/scenarios.csv",
            sockets="results/{study}/tidy/sockets.parquet",
            queue="results/{study}/tidy/queue.parquet",
            phases="results/{study}/analysis/phases.csv",
            modules=modules_of("plot_windows"),
        output:
            figure=report(
                f"results/{{study}}/figures/{picture.slug}.svg",
                caption="../../report/captions/windows.rst",
                category="Over time",
                labels={"figure": f"{picture.cca}, {picture.scenario}, {picture.ip_version}", "shows": "one run over time"},
            ),
            data=f"results/{{study}}/figures/{picture.slug}.csv",
        params:
            image=ANALYSIS_IMAGE,
            scenario=picture.scenario,
            cca_shown=picture.cca,
            ip_shown=picture.ip_version,
            replications=STUDY["replications"],
        log:
            f"results/{{study}}/logs/plot_{picture.slug.replace('-', '_')}.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_windows.py"
