"""The hypotheses that the paper tests."""

HYPOTHESES = {
    "H0": "TCP performs alike over IPv4 and IPv6",
    "H1": "TCP performs better over IPv4",
    "H2": "TCP performs better over IPv6",
}
