# Figures: tidy tables and analysis/*.csv -> figures/<name>.svg, with their data as CSV

# Figure -> what `snakemake --report` calls it. The paper's figures 3 to 6 stand beside ours.
METRIC_FIGURES = {
    "goodput": "Goodput",
    "rtt": "Round-trip time",
    "loss": "Packet loss",
    "retransmits": "Retransmissions",
    "published-throughput": "Throughput per stream (figure 3)",
    "published-rtt": "RTT of the first stream (figure 4)",
    "published-loss": "Retransmission share (figure 5)",
    "published-retransmits": "Retransmissions (figure 6)",
}

# One metric in every cell: each replication, the mean, its interval.
for figure, title in METRIC_FIGURES.items():

    rule:
        name:
            f"plot_{figure.replace('-', '_')}"
        input:
            runs="results/{study}/tidy/runs.csv",
            scenarios="results/{study}/tidy/scenarios.csv",
            descriptive="results/{study}/analysis/descriptive.csv",
            modules=modules_of("plot_metric"),
        output:
            figure=report(
                f"results/{{study}}/figures/{figure}.svg",
                caption=f"../../report/captions/{figure}.rst",
                category="As published" if figure.startswith("published") else "Metrics",
                labels={"figure": title, "shows": "replications, mean, interval"},
            ),
            data=f"results/{{study}}/figures/{figure}.csv",
        params:
            image=ANALYSIS_IMAGE,
            metric=figure,
            confidence=CONFIDENCE,
            replications=STUDY["replications"],
            by=OUTLINE.design.cell_words,
            both_ip_versions=OUTLINE.design.ip_versions_compared,
        log:
            f"results/{{study}}/logs/plot_{figure}.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_metric.py"


# Heat map: what share of the path's capacity each CCA turned into goodput.
rule plot_ideal:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("plot_ideal"),
    output:
        figure=report(
            "results/{study}/figures/ideal.svg",
            caption="../../report/captions/ideal.rst",
            category="CCAs compared",
            labels={"figure": "Goodput over the ideal", "shows": "means"},
        ),
        data="results/{study}/figures/ideal.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
        by=OUTLINE.design.cell_words,
        cca=OUTLINE.design.cca_word,
        both_ip_versions=OUTLINE.design.ip_versions_compared,
    log:
        "results/{study}/logs/plot_ideal.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_ideal.py"


# What goodput costs in retransmissions.
rule plot_price:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("plot_price"),
    output:
        figure=report(
            "results/{study}/figures/price.svg",
            caption="../../report/captions/price.rst",
            category="CCAs compared",
            labels={"figure": "Goodput against retransmissions", "shows": "replications, means"},
        ),
        data="results/{study}/figures/price.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
        by=OUTLINE.design.cell_words,
        both_ip_versions=OUTLINE.design.ip_versions_compared,
    log:
        "results/{study}/logs/plot_price.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_price.py"


# What goodput costs in delay: the knee is where the link is full and the queue is not.
rule plot_knee:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("plot_knee"),
    output:
        figure=report(
            "results/{study}/figures/knee.svg",
            caption="../../report/captions/knee.rst",
            category="CCAs compared",
            labels={"figure": "Goodput against queueing delay", "shows": "replications, means"},
        ),
        data="results/{study}/figures/knee.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
        by=OUTLINE.design.cell_words,
        both_ip_versions=OUTLINE.design.ip_versions_compared,
    log:
        "results/{study}/logs/plot_knee.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_knee.py"


# The empirical distribution of goodput in each cell.
rule plot_distributions:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("plot_distributions"),
    output:
        figure=report(
            "results/{study}/figures/distributions.svg",
            caption="../../report/captions/distributions.rst",
            category="CCAs compared",
            labels={"figure": "Distribution of goodput", "shows": "empirical distributions"},
        ),
        data="results/{study}/figures/distributions.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
        by=OUTLINE.design.cell_words,
        both_ip_versions=OUTLINE.design.ip_versions_compared,
    log:
        "results/{study}/logs/plot_distributions.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_distributions.py"


# Is the emulation right? Loss and smallest RTT against what was configured.
rule plot_emulation:
    input:
        runs="results/{study}/tidy/runs.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("plot_emulation"),
    output:
        figure=report(
            "results/{study}/figures/emulation.svg",
            caption="../../report/captions/emulation.rst",
            category="Validity",
            labels={"figure": "Loss and delay, realised", "shows": "realised against configured"},
        ),
        data="results/{study}/figures/emulation.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
        by=OUTLINE.design.cell_words,
        both_ip_versions=OUTLINE.design.ip_versions_compared,
    log:
        "results/{study}/logs/plot_emulation.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_emulation.py"


# IPv6 against IPv4 with equivalence margins, a figure for each metric.
for metric in METRICS:

    rule:
        name:
            f"plot_ip_difference_{metric.slug}"
        input:
            runs="results/{study}/tidy/runs.csv",
            scenarios="results/{study}/tidy/scenarios.csv",
            ip_versions="results/{study}/analysis/ip_versions.csv",
            modules=modules_of("plot_ip_difference"),
        output:
            figure=report(
                f"results/{{study}}/figures/ip-difference-{metric.slug}.svg",
                caption="../../report/captions/ip-difference.rst",
                category="IP versions compared",
                labels={"figure": metric.name, "shows": "difference, interval, margin"},
            ),
            data=f"results/{{study}}/figures/ip-difference-{metric.slug}.csv",
        params:
            image=ANALYSIS_IMAGE,
            metric=metric.slug,
            metric_name=metric.name,
            effect_unit=metric.effect_unit,
            margin=studies.differences(STUDY["analysis"]["equivalence_margin"])[metric.column],
            confidence=CONFIDENCE,
            significance=SIGNIFICANCE,
            replications=STUDY["replications"],
            by=OUTLINE.design.cell_words,
            both_ip_versions=OUTLINE.design.ip_versions_compared,
        log:
            f"results/{{study}}/logs/plot_ip_difference_{metric.slug}.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_ip_difference.py"


# This study's goodput beside that of the study it is compared with, if that one was analysed.
if "other_descriptive" in OTHER_TABLES:

    rule plot_methods:
        input:
            scenarios="results/{study}/tidy/scenarios.csv",
            descriptive="results/{study}/analysis/descriptive.csv",
            other_descriptive=OTHER_TABLES["other_descriptive"],
            modules=modules_of("plot_methods"),
        output:
            figure=report(
                "results/{study}/figures/methods.svg",
                caption="../../report/captions/methods.rst",
                category="Methods compared",
                labels={"figure": "Goodput of two methods", "shows": "means"},
            ),
            data="results/{study}/figures/methods.csv",
        params:
            image=ANALYSIS_IMAGE,
            name=STUDY["study"],
            other_name=OTHER_STUDY,
            both_ip_versions=OUTLINE.design.ip_versions_compared,
        log:
            "results/{study}/logs/plot_methods.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_methods.py"


FIGURES = [
    f"results/{STUDY['study']}/figures/{figure.slug}.{kind}" for figure in OUTLINE.figures for kind in ("svg", "csv")
]
