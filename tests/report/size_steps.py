"""What the rules of the topic on message sizes do, for synthetic studies."""

from pathlib import Path

from study_files.claims import load_claims

CLAIMS = Path(__file__).parents[2] / "config" / "claims" / "windows-packet-size.yaml"


def packet_size_step(built, other=None):
    """Write tables and figures of the topic on message sizes; ``other`` is the size_cells.csv of another platform."""
    others = [other] if other else []
    printed = load_claims(CLAIMS)["paper"]["cells"]
    tables = {name: built.table(name) for name in ("size_cells", "size_differences")}
    built.run("measure_sizes", tables, {"other": others}, printed=printed)
    more = {name: path for name, path in tables.items()} | {"other": others}
    for figure in built.outline.figures:
        if figure.caption == "size-values":
            built.run("plot_sizes", built.outputs(figure.slug), more, shown=figure.slug, **figure.words)
        elif figure.slug == "size-differences":
            built.run("plot_size_differences", built.outputs(figure.slug), more)
