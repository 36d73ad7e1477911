"""Small tables of runs with given values, and claims about them, for the tests of claims."""

import pandas as pd
import yaml
from study_files import claims

QUANTITIES = (
    "throughput_per_stream_mbps", "rtt_first_stream_ms", "retransmit_percent", "retransmits",
    "goodput_mbps", "rtt_mean_ms", "loss_percent",
)  # fmt: skip
CCAS = ["reno", "cubic", "bbr"]


def table(values, delays_ms=(10, 50)):
    """Return runs.csv's columns that claims use, each quantity with the same values.

    Parameters
    ----------
    values : callable
        Given scenario ("1", "2", ...), CCA, IP version, it returns the values of the replications;
        None is an invalid run.
    delays_ms : sequence of float
        A scenario each.
    """
    rows = []
    for place, delay_ms in enumerate(delays_ms, start=1):
        for cca in CCAS:
            for ip_version in ("ipv4", "ipv6"):
                for replication, value in enumerate(values(str(place), cca, ip_version), start=1):
                    rows.append(
                        {
                            "scenario": f"{delay_ms}ms", "scenario_label": str(place), "cca": cca,
                            "ip_version": ip_version, "replication": replication, "valid": value is not None,
                            "rate_mbps": 1000.0, "delay_ms": float(delay_ms), "loss_configured_percent": 0.0,
                            "flows": 1.0, "duration_s": 10.0, "mss_bytes": 1448.0 if ip_version == "ipv4" else 1428.0,
                            **dict.fromkeys(QUANTITIES, 99.0 if value is None else float(value)),
                        }
                    )  # fmt: skip
    return pd.DataFrame(rows)


def content(*given, delays_ms=(10, 50)):
    """Return a claims file's content: scenarios by delay, and claims completed by what all need."""
    shared = {
        "section": "1", "statement": "Something.", "published": "some", "tolerance": "none",
        "quantity": "throughput_per_stream_mbps",
    }  # fmt: skip
    return {
        "paper": {"title": "A title", "authors": "An author"},
        "ccas": CCAS,
        "scenarios": [
            {"id": str(place), "rate_mbps": [1000, None], "delay_ms": delay, "loss_configured_percent": 0, "flows": 1}
            for place, delay in enumerate(delays_ms, start=1)
        ],
        "claims": [{"id": f"claim-{place}"} | shared | claim for place, claim in enumerate(given, start=1)],
    }


def written(path, what):
    """Write a claims file and return its path."""
    path.write_text(what if isinstance(what, str) else yaml.safe_dump(what, sort_keys=False), encoding="utf-8")
    return path


def loaded(folder, *given, **options):
    """Return claims as the workflow gets them: written, read, validated, completed."""
    return claims.load_claims(written(folder / "claims.yaml", content(*given, **options)))
