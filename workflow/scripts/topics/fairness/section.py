"""The section on fairness: how flows of several CCAs share a link."""

from report_parts.material import Finding
from study_files.study_replications import replications_words
from topics.fairness.page_tables import factor_table, mix_table, order_table, pair_table, theory_table
from topics.fairness.sentences import (
    base_of,
    equals_sentence,
    orders_sentences,
    ranking_sentence,
    reversal_sentence,
    rtt_sentence,
    theory_sentence,
)  # fmt: skip


def section(material) -> dict | None:
    """Return the template variables of the section; None if there are no flows to report on."""
    tables, slugs = material.tables, list(material.figures)
    if tables.shares.empty:
        return None
    answers = [
        *_who_wins(material),
        rtt_sentence(tables.share_pairs, tables.flow_shares),
        equals_sentence(tables.share_pairs),
        theory_sentence(tables.share_theory),
        *orders_sentences(tables.start_order, material.params["significance"], material.params["confidence"]),
    ]
    return {
        "sentences": list(filter(None, answers)),
        "factor_figures": [slug for slug in slugs if slug.startswith("fairness-factors-")],
        "competitions": [slug for slug in slugs if slug.startswith("competition-")],
        "pairs": pair_table(tables.share_pairs) if len(tables.share_pairs) else None,
        "factors": factor_table(tables.fairness_factors) if tables.fairness_factors["effect"].notna().any() else None,
        "orders": order_table(tables.start_order) if len(tables.start_order) else None,
        "theory": theory_table(tables.share_theory) if len(tables.share_theory) else None,
        "mixes": mix_table(tables.shares),
        "replications": replications_words(material.study),
        "others": bool(material.design.other_groups),
    }


def _who_wins(material):
    """Return two sentences: one about the ranking of CCAs, and one about the pairs whose winner depends on the scenario.

    A sentence is "" if there is nothing to report in it.
    """
    pairs, significance = material.tables.share_pairs, material.params["significance"]
    base = base_of(material.tables.fairness_factors, pairs)
    ranking = ranking_sentence(pairs, base, significance, material.params["confidence"])
    return ranking, reversal_sentence(pairs, significance)


def findings(material) -> list[Finding]:
    """Return the findings at the top of the report: the ranking of CCAs, and the pairs whose winner depends on the scenario."""
    if material.tables.shares.empty or not material.tables.share_pairs["share"].notna().any():
        return []
    answers = zip(("Fairness", "Reversals"), _who_wins(material), strict=True)
    return [Finding(topic, text, "fairness") for topic, text in answers if text]
