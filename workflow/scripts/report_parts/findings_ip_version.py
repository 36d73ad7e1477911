"""Whether the IP version matters: one sentence from the paired tests and those over the whole."""

from compare_overall import ALIGNED, EQUAL, POOLED, VAN_ELTEREN
from number_format import count, is_missing, p_value
from report_parts.report_data_tables import signed


def ip_version_sentence(tables, significance):
    """Say how many cells differ between IPv4 and IPv6 in goodput, by how much, and why.

    Parameters
    ----------
    tables : object
        runs, ip_versions and ip_overall: DataFrames.
    significance : float
        Against which p after Holm's correction is held.
    """
    present = list(dict.fromkeys(tables.runs["ip_version"]))
    if len(present) < 2:
        return f"The study has one IP version, {present[0].replace('ipv', 'IPv')}: nothing to compare."
    cells = tables.ip_versions[tables.ip_versions["metric"] == "goodput_mbps"]
    if cells["effect"].isna().all():
        return "No cell has valid runs of both IP versions: they can't be compared."
    parts = [cell_words(cells, significance)]
    parts += expected_words(cells, tables.runs, significance)
    parts += overall_words(tables.ip_overall, significance)
    return "; ".join(parts) + "."


def cell_words(cells, significance):
    """Say how many cells differ by test, how many lie within the margin, and the median difference."""
    tested = cells[cells["p_holm"].notna()]
    text = f"IPv6's goodput could be tested in none of {count(len(cells), 'cell')}"
    if len(tested):
        differ = int((tested["p_holm"] < significance).sum())
        text = f"IPv6's goodput differs from IPv4's in {differ:,} of {count(len(tested), 'cell')} tested (Holm)"
    margins = cells["margin"].dropna().unique()
    if len(tested) and len(margins) == 1:
        text += f" and lies within ±{margins[0]:g} % in {int((cells['equivalent'] == 'yes').sum()):,}"
    return f"{text} (median {signed(cells['effect'].median(), 2)} %)"


def expected_words(cells, runs, significance):
    """Say how many cells differ from what the segment sizes alone give."""
    tested = cells[cells["p_expected_holm"].notna()]
    if tested.empty:
        return []
    differ = int((tested["p_expected_holm"] < significance).sum())
    sizes = [set(runs.loc[runs["ip_version"] == ip, "mss_bytes"].dropna()) for ip in ("ipv6", "ipv4")]
    ratio = "ratio of the segment sizes"
    if all(len(size) == 1 for size in sizes):
        ratio = f"MSS ratio {sizes[0].pop():g}/{sizes[1].pop():g}"
    expected = signed(tested["expected_effect"].median(), 2)
    return [f"{differ:,} {'differs' if differ == 1 else 'differ'} from the {ratio} ({expected} %)"]


def overall_words(overall, significance):
    """Say whether the test that fits the design and the pooled one see a difference over all cells."""
    here = overall[(overall["metric"] == "goodput_mbps") & (overall["null"] == EQUAL)]
    p = {row["method"]: row["p"] for row in here.to_dict("records") if not is_missing(row["p"])}
    paired, pooled = p.get(ALIGNED, p.get(VAN_ELTEREN)), p.get(POOLED)
    if paired is None or pooled is None:
        return []
    seen, missed = f"p {_p(paired)}", f"p {_p(pooled)}"
    if paired < significance:
        also = "too" if pooled < significance else "misses it"
        return [f"overall the paired test sees a difference ({seen}), the pooled one {also} ({missed})"]
    if pooled < significance:
        return [f"the pooled test sees a difference ({missed}), the paired one overall none ({seen})"]
    return [f"overall neither the paired ({seen}) nor the pooled test ({missed}) sees a difference"]


def _p(value):
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"
