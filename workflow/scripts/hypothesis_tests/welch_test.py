"""Two independent samples whose variances may differ: Welch's test and interval."""

from scipy import special

# Variance of a difference below which samples differ by rounding only.
NOISE = 1e-24


def welch(values, others, params):
    """Compare the means of two independent samples (Welch, 1947), two-sided.

    t = (m1 - m2) / sqrt(v1/n1 + v2/n2), with (v1/n1 + v2/n2)^2 / ((v1/n1)^2/(n1 - 1) + (v2/n2)^2/(n2 - 1))
    degrees of freedom.

    Parameters
    ----------
    values, others : numpy.ndarray of float
        Two or more each.
    params : object
        With confidence, and significance: that of the two one-sided tests which an interval of
        confidence 1 - 2 x significance stands for.

    Returns
    -------
    dict or None
        difference, low, high, tost_low, tost_high, statistic, df, p; None if neither sample varies.
    """
    parts = [sample.var(ddof=1) / len(sample) for sample in (values, others)]
    if sum(parts) <= NOISE:
        return None
    difference, error = float(values.mean() - others.mean()), float(sum(parts)) ** 0.5
    sizes = (len(values), len(others))
    df = float(sum(parts) ** 2 / sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True)))
    result = {"difference": difference, "statistic": difference / error, "df": df}
    for name, confidence in (("", params.confidence), ("tost_", 1 - 2 * params.significance)):
        half = float(special.stdtrit(df, (1 + confidence) / 2)) * error
        result |= {f"{name}low": difference - half, f"{name}high": difference + half}
    return result | {"p": float(2 * special.stdtr(df, -abs(result["statistic"])))}
