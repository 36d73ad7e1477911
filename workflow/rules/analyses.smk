# Analyses, declared in topics/*/topic.py: tidy tables and earlier analysis/*.csv -> analysis/<table>.csv


for name, analyses in together(OUTLINE.analyses, "analyse_study", MOST_DOCUMENTS).items():
    parts = analysis_rule(analyses, DESIGN, SETTINGS)

    rule:
        name:
            name
        input:
            **parts["input"],
        output:
            **parts["output"],
        log:
            f"results/{{study}}/logs/{name}.log",
        container:
            "envs/analysis.sif"
        params:
            calls=parts["calls"],
            code=code_of("topics/carry_out", *(f"topics/{analysis.script}" for analysis in analyses)),
            image=ANALYSIS_IMAGE,
        script:
            "../scripts/topics/carry_out.py"
