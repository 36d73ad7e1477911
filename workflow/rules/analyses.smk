# Analyses: tidy tables and earlier analysis/*.csv -> analysis/<table>.csv; topics/*/topic.py declare them


for analysis in OUTLINE.analyses:

    rule:
        name:
            Path(analysis.script).name
        input:
            **table_paths(analysis.inputs_of(DESIGN), DESIGN),
        output:
            **{table.name: f"results/{{study}}/{table.path}" for table in analysis.tables},
        log:
            f"results/{{study}}/logs/{Path(analysis.script).name}.log",
        container:
            "envs/analysis.sif"
        params:
            **analysis_params(analysis, DESIGN, SETTINGS),
            script=analysis.script,
            code=code_of(f"topics/{analysis.script}"),
            image=ANALYSIS_IMAGE,
        # Bound when a job runs, unlike the loop's variable.
        script:
            "../scripts/topics/{params.script}.py"
