# Figures: tidy tables and analysis/descriptive.csv -> figures/<metric>.svg, with their data as CSV

# Colours, axes and drawing: a change here draws the figures again, and nothing before them.
FIGURE_MODULES = [
    f"workflow/scripts/{name}.py"
    for name in (
        "image_libraries",
        "script_log",
        "tidy_columns",
        "metrics",
        "number_format",
        "scenario_words",
        "figure_style",
        "figure_svg",
        "axis_scales",
        "cell_figure_data",
        "cell_figure",
    )
]

FIGURES = [
    f"results/{STUDY['study']}/figures/{name}.{kind}"
    for name in ("goodput", "rtt", "loss", "retransmits")
    for kind in ("svg", "csv")
]


rule plot_goodput:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        descriptive="results/{study}/analysis/descriptive.csv",
        modules=FIGURE_MODULES,
    output:
        figure=report(
            "results/{study}/figures/goodput.svg",
            caption="../../report/captions/goodput.rst",
            category="Figures",
            labels={"metric": "Goodput", "shows": "replications, mean, interval"},
        ),
        data="results/{study}/figures/goodput.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
    log:
        "results/{study}/logs/plot_goodput.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_goodput.py"


rule plot_rtt:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        descriptive="results/{study}/analysis/descriptive.csv",
        modules=FIGURE_MODULES,
    output:
        figure=report(
            "results/{study}/figures/rtt.svg",
            caption="../../report/captions/rtt.rst",
            category="Figures",
            labels={"metric": "Round-trip time", "shows": "replications, mean, interval"},
        ),
        data="results/{study}/figures/rtt.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
    log:
        "results/{study}/logs/plot_rtt.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_rtt.py"


rule plot_loss:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        descriptive="results/{study}/analysis/descriptive.csv",
        modules=FIGURE_MODULES,
    output:
        figure=report(
            "results/{study}/figures/loss.svg",
            caption="../../report/captions/loss.rst",
            category="Figures",
            labels={"metric": "Packet loss", "shows": "replications, mean, interval"},
        ),
        data="results/{study}/figures/loss.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
    log:
        "results/{study}/logs/plot_loss.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_loss.py"


rule plot_retransmits:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        descriptive="results/{study}/analysis/descriptive.csv",
        modules=FIGURE_MODULES,
    output:
        figure=report(
            "results/{study}/figures/retransmits.svg",
            caption="../../report/captions/retransmits.rst",
            category="Figures",
            labels={"metric": "Retransmissions", "shows": "replications, mean, interval"},
        ),
        data="results/{study}/figures/retransmits.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
    log:
        "results/{study}/logs/plot_retransmits.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_retransmits.py"
