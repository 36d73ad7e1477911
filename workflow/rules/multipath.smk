# Several paths: runs, what each path carried, time series and CPU times -> analysis/{aggregation,path_shares}.csv and figures


# Each cell over several paths against the same over one; what each path carried.
rule compare_paths:
    input:
        runs="results/{study}/tidy/runs.csv",
        paths="results/{study}/tidy/paths.csv",
        scenarios="results/{study}/tidy/scenarios.csv",
        modules=modules_of("compare_paths"),
    output:
        aggregation="results/{study}/analysis/aggregation.csv",
        path_shares="results/{study}/analysis/path_shares.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
    log:
        "results/{study}/logs/compare_paths.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/compare_paths.py"


# What each CCA gets in each environment, by iperf3 and by FTP.
rule plot_environments:
    input:
        aggregation="results/{study}/analysis/aggregation.csv",
        modules=modules_of("plot_environments"),
    output:
        figure=report(
            "results/{study}/figures/environments.svg",
            caption="../../report/captions/environments.rst",
            category="Paths",
            labels={"figure": "Goodput by environment", "shows": "means, intervals, ceilings"},
        ),
        data="results/{study}/figures/environments.csv",
    params:
        image=ANALYSIS_IMAGE,
        confidence=CONFIDENCE,
        replications=STUDY["replications"],
    log:
        "results/{study}/logs/plot_environments.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_environments.py"


# What each path carried.
rule plot_path_shares:
    input:
        path_shares="results/{study}/analysis/path_shares.csv",
        modules=modules_of("plot_path_shares"),
    output:
        figure=report(
            "results/{study}/figures/path-shares.svg",
            caption="../../report/captions/path-shares.rst",
            category="Paths",
            labels={"figure": "Shares of the paths", "shows": "means, ranges"},
        ),
        data="results/{study}/figures/path-shares.csv",
    params:
        image=ANALYSIS_IMAGE,
        replications=STUDY["replications"],
    log:
        "results/{study}/logs/plot_path_shares.log",
    container:
        "envs/analysis.sif"
    script:
        "../scripts/plot_path_shares.py"


if OUTLINE.design.path_numbers > 1:

    # How many times a single path's goodput several give.
    rule plot_aggregation:
        input:
            aggregation="results/{study}/analysis/aggregation.csv",
            modules=modules_of("plot_aggregation"),
        output:
            figure=report(
                "results/{study}/figures/aggregation.svg",
                caption="../../report/captions/aggregation.rst",
                category="Paths",
                labels={"figure": "Goodput by number of paths", "shows": "ratios, intervals, ceilings"},
            ),
            data="results/{study}/figures/aggregation.csv",
        params:
            image=ANALYSIS_IMAGE,
            confidence=CONFIDENCE,
            replications=STUDY["replications"],
        log:
            "results/{study}/logs/plot_aggregation.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_aggregation.py"


# File transfers over time, of the paper's best CCA and its worst.
for figure in OUTLINE.figures:
    if figure.caption == "transfer-rate":

        rule:
            name:
                f"plot_{figure.slug.replace('-', '_')}"
            input:
                runs="results/{study}/tidy/runs.csv",
                scenarios="results/{study}/tidy/scenarios.csv",
                sockets="results/{study}/tidy/sockets.parquet",
                modules=modules_of("plot_transfer_rate"),
            output:
                figure=report(
                    f"results/{{study}}/figures/{figure.slug}.svg",
                    caption="../../report/captions/transfer-rate.rst",
                    category="Paths",
                    labels={"figure": f"File transfer over time, {figure.words['cca_shown']}", "shows": "single runs"},
                ),
                data=f"results/{{study}}/figures/{figure.slug}.csv",
            params:
                image=ANALYSIS_IMAGE,
                **figure.words,
                replications=STUDY["replications"],
            log:
                f"results/{{study}}/logs/plot_{figure.slug.replace('-', '_')}.log",
            container:
                "envs/analysis.sif"
            script:
                "../scripts/plot_transfer_rate.py"

    if figure.caption == "cpu-time":

        # How busy the cores are over time.
        rule:
            name:
                f"plot_{figure.slug.replace('-', '_')}"
            input:
                runs="results/{study}/tidy/runs.csv",
                scenarios="results/{study}/tidy/scenarios.csv",
                cpu="results/{study}/tidy/cpu.parquet",
                modules=modules_of("plot_cpu_time"),
            output:
                figure=report(
                    f"results/{{study}}/figures/{figure.slug}.svg",
                    caption="../../report/captions/cpu-time.rst",
                    category="Paths",
                    labels={"figure": f"CPU time over time, {figure.words['cca_shown']}", "shows": "single runs"},
                ),
                data=f"results/{{study}}/figures/{figure.slug}.csv",
            params:
                image=ANALYSIS_IMAGE,
                **figure.words,
                replications=STUDY["replications"],
            log:
                f"results/{{study}}/logs/plot_{figure.slug.replace('-', '_')}.log",
            container:
                "envs/analysis.sif"
            script:
                "../scripts/plot_cpu_time.py"


if any(figure.slug == "cpu-use" for figure in OUTLINE.figures):

    # How busy the cores are, against the number of paths.
    rule plot_cpu_use:
        input:
            aggregation="results/{study}/analysis/aggregation.csv",
            modules=modules_of("plot_cpu_use"),
        output:
            figure=report(
                "results/{study}/figures/cpu-use.svg",
                caption="../../report/captions/cpu-use.rst",
                category="Paths",
                labels={"figure": "CPU time by number of paths", "shows": "means, intervals"},
            ),
            data="results/{study}/figures/cpu-use.csv",
        params:
            image=ANALYSIS_IMAGE,
            confidence=CONFIDENCE,
            replications=STUDY["replications"],
        log:
            "results/{study}/logs/plot_cpu_use.log",
        container:
            "envs/analysis.sif"
        script:
            "../scripts/plot_cpu_use.py"
