"""The section on fairness: who gets how much of a link that flows of several CCAs share."""

from report_parts.material import Finding
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
    """Return what the section's template needs; None if the study has no flow to speak of."""
    tables = material.tables
    if tables.shares.empty:
        return None
    slugs = list(material.figures)
    return {
        "sentences": sentences(material),
        "factor_figures": [slug for slug in slugs if slug.startswith("fairness-factors-")],
        "competitions": [slug for slug in slugs if slug.startswith("competition-")],
        "sources": sorted(set(filter(None, tables.flow_shares["source"]))),
        "pairs": pair_table(tables.share_pairs) if len(tables.share_pairs) else None,
        "factors": factor_table(tables.fairness_factors) if tables.fairness_factors["effect"].notna().any() else None,
        "orders": order_table(tables.start_order) if len(tables.start_order) else None,
        "theory": theory_table(tables.share_theory) if len(tables.share_theory) else None,
        "mixes": mix_table(tables.shares),
        "replications": material.study["replications"],
    }


def sentences(material) -> list[str]:
    """Return the findings of the section as sentences, in the order of the questions that they answer."""
    tables, significance = material.tables, material.params["significance"]
    pairs, confidence = tables.share_pairs, material.params["confidence"]
    base = base_of(tables.fairness_factors, pairs)
    answers = [
        ranking_sentence(pairs, base, significance, confidence),
        reversal_sentence(pairs, significance),
        rtt_sentence(pairs, tables.flow_shares),
        equals_sentence(pairs),
        theory_sentence(tables.share_theory),
        *orders_sentences(tables.start_order, significance, confidence),
    ]
    return [sentence for sentence in answers if sentence]


def findings(material) -> list[Finding]:
    """Return what opens the report: who beats whom, and where that turns."""
    pairs = material.tables.share_pairs
    if material.tables.shares.empty or not pairs["share"].notna().any():
        return []
    base = base_of(material.tables.fairness_factors, pairs)
    significance, confidence = material.params["significance"], material.params["confidence"]
    answers = [
        ("Fairness", ranking_sentence(pairs, base, significance, confidence)),
        ("Where it turns", reversal_sentence(pairs, significance)),
    ]
    return [Finding(topic, text, "fairness") for topic, text in answers if text]
