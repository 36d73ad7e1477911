"""Settings shared by all analyses."""

SETTINGS = {
    # Confidence level of every two-sided interval, and significance level of every test, as fractions.
    "confidence": 0.95,
    "significance": 0.05,
    # Power, as a fraction, on which the report's sample sizes are based (Cohen, 1988, section 2.4).
    "power": 0.8,
}
