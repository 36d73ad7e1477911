"""The section on fairness: who gets how much of a link that flows of several CCAs share."""

from report_parts.fairness_sentences import (
    base_of,
    equals_sentence,
    orders_sentences,
    ranking_sentence,
    reversal_sentence,
    rtt_sentence,
    theory_sentence,
)  # fmt: skip
from report_parts.fairness_tables import factor_table, mix_table, order_table, pair_table, theory_table
from report_parts.findings import Finding
from report_parts.report_columns import kinds_of

TABLES = {
    "flow_shares": kinds_of(
        text="scenario scenario_label cca ip_version flow_cca source",
        number="replication flow position rtt_path_ms goodput_mbps share fair_share jain_index",
    ),
    "shares": kinds_of(
        text="scenario scenario_label ip_version cca flow_cca source test note",
        number="position flows n rtt_path_ms goodput_mbps goodput_low goodput_high share share_low share_high fair_ratio "
        "jain jain_low jain_high rtt_mean_ms rtt_low rtt_high retransmits retransmits_low retransmits_high p p_holm",
    ),
    "share_pairs": kinds_of(
        text="scenario scenario_label ip_version row_cca column_cca orders test note",
        number="replications runs share share_low share_high row_mbps column_mbps jain jain_low jain_high jain_min p p_holm "
        "order_effect order_low order_high order_p order_p_holm",
    ),
    "start_order": kinds_of(
        text="effect ip_version cca_a cca_b test note",
        number="units share share_low share_high ratio_percent ratio_low ratio_high smallest_margin p p_holm",
    ),
    "fairness_factors": kinds_of(
        text="factor scenario scenario_label ip_version row_cca column_cca note",
        number="level base_level replications share share_low share_high jain base_share effect effect_low effect_high p p_holm",
    ),
    "share_theory": kinds_of(
        text="model scenario scenario_label ip_version row_cca column_cca expected agrees note",
        number="buffer_bdp queue_packets reno_s cubic_s predicted replications share share_low share_high off",
    ),
}


def section(material):
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


def sentences(material):
    """Return the findings of the section as sentences, in the order of the questions that they answer."""
    tables, significance = material.tables, material.params["significance"]
    pairs, confidence = tables.share_pairs, material.params["confidence"]
    base = base_of(tables.fairness_factors, pairs)
    found = [
        ranking_sentence(pairs, base, significance, confidence),
        reversal_sentence(pairs, significance),
        rtt_sentence(pairs, tables.flow_shares),
        equals_sentence(pairs),
        theory_sentence(tables.share_theory),
        *orders_sentences(tables.start_order, confidence),
    ]
    return [sentence for sentence in found if sentence]


def findings(material):
    """Return what opens the report: who beats whom, and where that turns."""
    pairs = material.tables.share_pairs
    if material.tables.shares.empty or not pairs["share"].notna().any():
        return []
    base = base_of(material.tables.fairness_factors, pairs)
    significance, confidence = material.params["significance"], material.params["confidence"]
    found = [
        ("Fairness", ranking_sentence(pairs, base, significance, confidence)),
        ("Where it turns", reversal_sentence(pairs, significance)),
    ]
    return [Finding(topic, text, "fairness") for topic, text in found if text]
