# Figures: tidy tables and analysis/*.csv -> figures/<slug>.svg, with their data as CSV; topics/*/topic.py declare them


for figure in OUTLINE.figures:

    rule:
        name:
            f"plot_{figure.name}"
        input:
            **table_paths(figure.inputs, DESIGN),
        output:
            figure=report(
                f"results/{{study}}/figures/{figure.slug}.svg",
                caption=f"../../{figure.caption_path}",
                category=figure.category,
                labels={"figure": figure.title, "shows": figure.shows},
            ),
            data=f"results/{{study}}/figures/{figure.slug}.csv",
        log:
            f"results/{{study}}/logs/plot_{figure.name}.log",
        container:
            "envs/analysis.sif"
        params:
            **figure_params(figure, DESIGN, SETTINGS),
            script=figure.script,
            code=code_of(f"topics/{figure.script}"),
            image=ANALYSIS_IMAGE,
        # Bound when a job runs, unlike the loop's variable.
        script:
            "../scripts/topics/{params.script}.py"
