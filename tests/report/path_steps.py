"""What the rules of the topic on several paths do, for synthetic studies."""

import pandas as pd
import path_studies


def multipath_step(built):
    """Write tidy tables, tables and figures of the topic on several paths."""
    tidy = built.folder / "tidy"
    runs = pd.read_csv(built.table("runs"), dtype={"scenario": str, "scenario_label": str})
    path_studies.path_rows(runs).to_csv(tidy / "paths.csv", index=False)
    path_studies.write_series(runs, tidy / "sockets.parquet")
    path_studies.write_cpu(runs, tidy / "cpu.parquet")
    more = {"paths": tidy / "paths.csv", "cpu": tidy / "cpu.parquet"}
    tables = {name: built.table(name) for name in ("aggregation", "path_shares")}
    built.run("compare_paths", tables, more)
    scripts = {"environments": "plot_environments", "aggregation": "plot_aggregation", "path-shares": "plot_path_shares", "cpu-use": "plot_cpu_use"}
    for figure in built.outline.figures:
        if figure.slug in scripts:
            built.run(scripts[figure.slug], built.outputs(figure.slug), more | tables)
        elif figure.caption in ("transfer-rate", "cpu-time"):
            built.run(f"plot_{figure.caption.replace('-', '_')}", built.outputs(figure.slug), more | tables, **figure.words)
