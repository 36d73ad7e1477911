# Fairness: flows and their time series -> analysis/{flow_shares,shares,share_pairs,start_order,fairness_factors,share_theory}.csv, figures


# Each flow's share of the link in each run, over the time that all flows have in common.
rule measure_shares:
    input:
        runs="results/{study}/tidy/runs.csv",
        flows="results/{study}/tidy/flows.csv",
        sockets="results/{study}/tidy/sockets.parquet",
        modules=modules_of("measure_shares"),
    output:
        flow_shares="results/{study}/analysis/flow_shares.csv",
    params:
        image=ANALYSIS_IMAGE,
    log:
        "results/{study}/logs/measure_shares.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/measure_shares.py"


# By mix and flow, CCA against CCA, and by the order of starting.
rule compare_shares:
    input:
        flow_shares="results/{study}/analysis/flow_shares.csv",
        modules=modules_of("compare_shares"),
    output:
        shares="results/{study}/analysis/shares.csv",
        share_pairs="results/{study}/analysis/share_pairs.csv",
        start_order="results/{study}/analysis/start_order.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        significance=SIGNIFICANCE,
        seed=STUDY["seed"],
    log:
        "results/{study}/logs/compare_shares.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/compare_shares.py"


# Each level of delay, loss, rate, RTT ratio and buffer against the base, and shares beside theory.
rule compare_factors:
    input:
        flow_shares="results/{study}/analysis/flow_shares.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("compare_factors"),
    output:
        fairness_factors="results/{study}/analysis/fairness_factors.csv",
        share_theory="results/{study}/analysis/share_theory.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        significance=SIGNIFICANCE,
    log:
        "results/{study}/logs/compare_factors.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/compare_factors.py"


# The topic's figures that this study has, by the name of their caption.
FAIRNESS_FIGURES = {}
for figure in next(declared for declared in OUTLINE.topics if declared.name == "fairness").figures(OUTLINE.design):
    FAIRNESS_FIGURES.setdefault(figure.caption, []).append(figure)

# Who beats whom: share, and Jain's index, of row and column in each scenario.
for shown, title in (("shares", "Who beats whom"), ("jain", "Jain's index")):
    if f"fairness-{shown}" in FAIRNESS_FIGURES:

        rule:
            name:
                f"plot_fairness_{shown}"
            input:
                share_pairs="results/{study}/analysis/share_pairs.csv",
                flow_shares="results/{study}/analysis/flow_shares.csv",
                scenarios="results/{study}/tidy/scenarios.csv",
                modules=modules_of("plot_shares"),
            output:
                figure=report(
                    f"results/{{study}}/figures/fairness-{shown}.svg",
                    caption=f"../../report/captions/fairness-{shown}.rst",
                    category="Fairness",
                    labels={"figure": title, "shows": "CCA against CCA"},
                ),
                data=f"results/{{study}}/figures/fairness-{shown}.csv",
            params:
                image=ANALYSIS_IMAGE,
                shown="share" if shown == "shares" else shown,
                confidence=CONFIDENCE,
                replications=STUDY["replications"],
            log:
                f"results/{{study}}/logs/plot_fairness_{shown}.log",
            container:
                "envs/analysis.sif"
            script:
                "../scripts/plot_shares.py"


# Mixes that are no pairs: each CCA's share over the fair share.
if "fairness-mixes" in FAIRNESS_FIGURES:

    rule plot_share_mixes:
        input:
            shares="results/{study}/analysis/shares.csv",
            scenarios="results/{study}/tidy/scenarios.csv",
            modules=modules_of("plot_share_mixes"),
        output:
            figure=report(
                "results/{study}/figures/fairness-mixes.svg",
                caption="../../report/captions/fairness-mixes.rst",
                category="Fairness",
                labels={"figure": "Mixes of more", "shows": "means, intervals"},
            ),
            data="results/{study}/figures/fairness-mixes.csv",
        params:
            image=ANALYSIS_IMAGE,
            confidence=CONFIDENCE,
            replications=STUDY["replications"],
        log:
            "results/{study}/logs/plot_share_mixes.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_share_mixes.py"


# A CCA's share against every other over the scenarios' factors.
for figure in FAIRNESS_FIGURES.get("fairness-factors", ()):

    rule:
        name:
            f"plot_{figure.slug.replace('-', '_')}"
        input:
            fairness_factors="results/{study}/analysis/fairness_factors.csv",
            modules=modules_of("plot_share_factors"),
        output:
            figure=report(
                f"results/{{study}}/figures/{figure.slug}.svg",
                caption="../../report/captions/fairness-factors.rst",
                category="Fairness",
                labels={"figure": f"Share of {figure.words['cca_shown']}", "shows": "over the factors"},
            ),
            data=f"results/{{study}}/figures/{figure.slug}.csv",
        params:
            image=ANALYSIS_IMAGE,
            shown=figure.words["cca_shown"],
            confidence=CONFIDENCE,
            replications=STUDY["replications"],
            **figure.words,
        log:
            f"results/{{study}}/logs/plot_{figure.slug}.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_share_factors.py"


# One run of each pair over time.
for figure in FAIRNESS_FIGURES.get("competition", ()):

    rule:
        name:
            f"plot_{figure.slug.replace('-', '_')}"
        input:
            flow_shares="results/{study}/analysis/flow_shares.csv",
            scenarios="results/{study}/tidy/scenarios.csv",
            sockets="results/{study}/tidy/sockets.parquet",
            modules=modules_of("plot_competition"),
        output:
            figure=report(
                f"results/{{study}}/figures/{figure.slug}.svg",
                caption="../../report/captions/competition.rst",
                category="Fairness",
                labels={"figure": figure.words["mix"], "shows": "one run over time"},
            ),
            data=f"results/{{study}}/figures/{figure.slug}.csv",
        params:
            image=ANALYSIS_IMAGE,
            confidence=CONFIDENCE,
            replications=STUDY["replications"],
            **figure.words,
        log:
            f"results/{{study}}/logs/plot_{figure.slug}.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_competition.py"
