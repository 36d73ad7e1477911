"""What the rules of the topics on buffers and platforms do, for synthetic studies."""

import numpy as np
import pandas as pd
from run_tables.time_series import SOCKETS

AGREEMENT = {
    "reason": "Made up.", "goodput_percent": 10, "jain_index": 0.1, "rtt_percent": 10, "loss_factor": 2,
    "retransmits_factor": 2,
}  # fmt: skip


def share_out(flows, runs, seed=5):
    """Return flows.csv with each run's goodput dealt out unevenly to its flows."""
    keys = ["scenario", "cca", "ip_version", "replication"]
    weights = pd.Series(np.random.default_rng(seed).gamma(3.0, size=len(flows)), flows.index)
    totals = flows[keys].merge(runs[[*keys, "goodput_mbps"]], on=keys, how="left")["goodput_mbps"].to_numpy()
    return flows.assign(
        goodput_mbps=totals * weights / weights.groupby([flows[name] for name in keys]).transform("sum")
    )


def write_sockets(flows, path, seconds=20, step_s=0.1):
    """Write sockets.parquet with a pacing rate that swings about each flow's goodput, in steps as BBR's gains."""
    times, parts = np.arange(0, seconds, step_s), []
    gains = np.array([1.25, 0.75, 1, 1, 1, 1, 1, 1])[(np.arange(len(times)) // 2) % 8]
    for flow in flows.to_dict("records"):
        keys = {name: flow[name] for name in ("scenario", "cca", "ip_version", "replication", "flow", "flow_cca")}
        parts.append(pd.DataFrame({"time_s": times, "pacing_mbps": gains * flow["goodput_mbps"]}).assign(**keys))
    table = pd.concat(parts, ignore_index=True)
    table.reindex(columns=SOCKETS.names).to_parquet(path, index=False)


def buffers_step(built):
    """Write flows, and tables and figures of the topic on buffers."""
    runs = pd.read_csv(built.table("runs"), dtype={"scenario_label": str})
    flows = share_out(pd.read_csv(built.table("flows")), runs)
    flows.to_csv(built.table("flows"), index=False)
    sockets = built.folder / "tidy" / "sockets.parquet"
    slugs = {figure.slug: figure for figure in built.outline.figures}
    built.run("describe_flows", {name: built.table(name) for name in ("flow_goodput", "flow_goodput_cells")})
    more = {"sockets": sockets, "flow_goodput_cells": built.table("flow_goodput_cells")}
    for slug, figure in slugs.items():
        if slug.startswith("flow-goodput-"):
            built.run("plot_flow_bars", built.outputs(slug), **figure.words)
        elif slug.startswith("flow-boxes-"):
            built.run("plot_flow_boxes", built.outputs(slug), **figure.words)
    built.run("plot_buffer_totals", built.outputs("buffer-totals"), more, lines="CCAs")
    if "pacing" in slugs:
        write_sockets(flows, sockets)
        built.run("plot_pacing", built.outputs("pacing"), more, **slugs["pacing"].words)


def platforms_step(built):
    """Write tables and figures of the topic on platforms."""
    tables = {name: built.table(name) for name in ("platforms", "platform_causes")}
    built.run("compare_platforms", tables, agreement=AGREEMENT)
    more = {"platforms": built.table("platforms"), "flow_goodput_cells": built.table("flow_goodput_cells")}
    built.run("plot_platform_differences", built.outputs("platform-differences"), more)
    if any(figure.slug == "platform-flows" for figure in built.outline.figures):
        built.run("plot_flow_bars", built.outputs("platform-flows"), cca="", lines="platform")
        built.run("plot_buffer_totals", built.outputs("platform-totals"), more, lines="platforms")
