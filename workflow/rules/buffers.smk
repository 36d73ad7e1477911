# Buffers: flows and runs -> analysis/flow_goodput*.csv and figures of what each flow gets against the buffer


# Each run's flows as a distribution, and its numbers over the replications with their intervals.
rule describe_flows:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("describe_flows"),
    output:
        flow_goodput="results/{study}/analysis/flow_goodput.csv",
        flow_goodput_cells="results/{study}/analysis/flow_goodput_cells.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
    log:
        "results/{study}/logs/describe_flows.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/describe_flows.py"


for cca in OUTLINE.design.ccas:

    # A bar a flow, from the highest down, for each buffer.
    rule:
        name:
            f"plot_flow_goodput_{cca}"
        input:
            runs="results/{study}/tidy/runs.csv",
            flows="results/{study}/tidy/flows.csv",
            scenarios="results/{study}/tidy/scenarios.csv",
            modules=modules_of("plot_flow_bars"),
        output:
            figure=report(
                f"results/{{study}}/figures/flow-goodput-{cca}.svg",
                caption="../../report/captions/flow-goodput.rst",
                category="Buffers",
                labels={"figure": f"Goodput of each flow, {cca}", "shows": "flows by rank, range over replications"},
            ),
            data=f"results/{{study}}/figures/flow-goodput-{cca}.csv",
        params:
            image=ANALYSIS_IMAGE,
            cca=cca,
            lines="buffer",
            replications=STUDY["replications"],
        log:
            f"results/{{study}}/logs/plot_flow_goodput_{cca}.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_flow_bars.py"

    # The same flows as a box for each buffer.
    rule:
        name:
            f"plot_flow_boxes_{cca}"
        input:
            runs="results/{study}/tidy/runs.csv",
            flows="results/{study}/tidy/flows.csv",
            scenarios="results/{study}/tidy/scenarios.csv",
            modules=modules_of("plot_flow_boxes"),
        output:
            figure=report(
                f"results/{{study}}/figures/flow-boxes-{cca}.svg",
                caption="../../report/captions/flow-boxes.rst",
                category="Buffers",
                labels={"figure": f"Distribution of the flows' goodput, {cca}", "shows": "quartiles, ends, mean"},
            ),
            data=f"results/{{study}}/figures/flow-boxes-{cca}.csv",
        params:
            image=ANALYSIS_IMAGE,
            cca=cca,
            replications=STUDY["replications"],
        log:
            f"results/{{study}}/logs/plot_flow_boxes_{cca}.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_flow_boxes.py"


# What all flows get together, and how evenly, against the buffer.
rule plot_buffer_totals:
    input:
        scenarios="results/{study}/tidy/scenarios.csv",
        flow_goodput_cells="results/{study}/analysis/flow_goodput_cells.csv",
        modules=modules_of("plot_buffer_totals"),
    output:
        figure=report(
            "results/{study}/figures/buffer-totals.svg",
            caption="../../report/captions/buffer-totals.rst",
            category="Buffers",
            labels={"figure": "Goodput of all flows and Jain's index", "shows": "means, intervals, by CCA"},
        ),
        data="results/{study}/figures/buffer-totals.csv",
    params:
        image=ANALYSIS_IMAGE,
        lines="CCAs",
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
    log:
        "results/{study}/logs/plot_buffer_totals.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_buffer_totals.py"


if OUTLINE.design.series:

    # The pacing rate of the flows with the highest and the lowest goodput, over time.
    rule plot_pacing:
        input:
            runs="results/{study}/tidy/runs.csv",
            flows="results/{study}/tidy/flows.csv",
            scenarios="results/{study}/tidy/scenarios.csv",
            sockets="results/{study}/tidy/sockets.parquet",
            modules=modules_of("plot_pacing"),
        output:
            figure=report(
                "results/{study}/figures/pacing.svg",
                caption="../../report/captions/pacing.rst",
                category="Buffers",
                labels={"figure": "Pacing rate over time", "shows": "two flows of a run"},
            ),
            data="results/{study}/figures/pacing.csv",
        params:
            image=ANALYSIS_IMAGE,
            cca=next(figure.words["cca"] for figure in OUTLINE.figures if figure.slug == "pacing"),
            replications=STUDY["replications"],
        log:
            "results/{study}/logs/plot_pacing.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_pacing.py"
