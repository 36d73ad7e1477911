# Platforms: the same conditions on Linux and in a simulator -> analysis/platforms.csv, where differences come from, figures


# Each two platforms in the same conditions: difference, interval, agreement within the study's tolerance.
rule compare_platforms:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("compare_platforms"),
    output:
        platforms="results/{study}/analysis/platforms.csv",
        platform_causes="results/{study}/analysis/platform_causes.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        significance=SIGNIFICANCE,
        agreement=STUDY["analysis"]["agreement"],
    log:
        "results/{study}/logs/compare_platforms.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/compare_platforms.py"


# How far apart platforms are, with the tolerance.
rule plot_platform_differences:
    input:
        platforms="results/{study}/analysis/platforms.csv",
        modules=modules_of("plot_platform_differences"),
    output:
        figure=report(
            "results/{study}/figures/platform-differences.svg",
            caption="../../report/captions/platform-differences.rst",
            category="Platforms",
            labels={"figure": "Platforms compared", "shows": "difference, interval, tolerance"},
        ),
        data="results/{study}/figures/platform-differences.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        significance=SIGNIFICANCE,
        replications=STUDY["replications"],
    log:
        "results/{study}/logs/plot_platform_differences.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_platform_differences.py"


if any(figure.slug == "platform-flows" for figure in OUTLINE.figures):

    # A bar a flow, from the highest down, for each platform at the smallest buffer that most of them have.
    rule plot_platform_flows:
        input:
            runs="results/{study}/tidy/runs.csv",
            flows="results/{study}/tidy/flows.csv",
            scenarios="results/{study}/tidy/scenarios.csv",
            modules=modules_of("plot_flow_bars"),
        output:
            figure=report(
                "results/{study}/figures/platform-flows.svg",
                caption="../../report/captions/flow-goodput.rst",
                category="Platforms",
                labels={"figure": "Goodput of each flow by platform", "shows": "flows by rank, range over replications"},
            ),
            data="results/{study}/figures/platform-flows.csv",
        params:
            image=ANALYSIS_IMAGE,
            cca="",
            lines="platform",
            replications=STUDY["replications"],
        log:
            "results/{study}/logs/plot_platform_flows.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_flow_bars.py"

    # What all flows get together, and how evenly, against the buffer: platforms side by side.
    rule plot_platform_totals:
        input:
            scenarios="results/{study}/tidy/scenarios.csv",
            flow_goodput_cells="results/{study}/analysis/flow_goodput_cells.csv",
            modules=modules_of("plot_buffer_totals"),
        output:
            figure=report(
                "results/{study}/figures/platform-totals.svg",
                caption="../../report/captions/buffer-totals.rst",
                category="Platforms",
                labels={"figure": "Goodput of all flows and Jain's index", "shows": "means, intervals, by platform"},
            ),
            data="results/{study}/figures/platform-totals.csv",
        params:
            image=ANALYSIS_IMAGE,
            lines="platforms",
            confidence=CONFIDENCE,
            replications=STUDY["replications"],
        log:
            "results/{study}/logs/plot_platform_totals.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_buffer_totals.py"
