"""Settings shared by all analyses."""

SETTINGS = {
    # Two-sided confidence of every interval, and the level of every test, as fractions.
    "confidence": 0.95,
    "significance": 0.05,
    # Of the sample sizes that the report names, a fraction (Cohen, 1988, section 2.4).
    "power": 0.8,
}
