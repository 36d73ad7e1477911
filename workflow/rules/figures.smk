# Figures, declared in topics/*/topic.py: tidy tables and analysis/*.csv -> figures/<slug>.svg, with a caption and the data as CSV


def reported(figure, path):
    """Mark a figure's path for `snakemake --report`, and return it; the caption is written when the figure is drawn."""
    return report(
        path,
        caption=os.path.abspath(f"{STUDY_FOLDER}/figures/{figure.slug}.rst"),
        category=figure.category,
        labels={"figure": figure.title, "shows": figure.shows},
    )


for name, figures in together(OUTLINE.figures, "draw_figures", MOST_DOCUMENTS).items():
    parts = figure_rule(figures, DESIGN, SETTINGS, own)
    drawings = {f"{figure.name}_figure": figure for figure in figures}

    rule:
        name:
            name
        input:
            **parts["input"],
        output:
            **{key: reported(drawings[key], path) if key in drawings else path for key, path in parts["output"].items()},
        log:
            f"results/{{study}}/logs/{name}.log",
        container:
            "envs/analysis.sif"
        params:
            calls=parts["calls"],
            code=code_of("topics/carry_out", *(f"topics/{figure.script}" for figure in figures)),
            image=ANALYSIS_IMAGE,
        script:
            "../scripts/topics/carry_out.py"
