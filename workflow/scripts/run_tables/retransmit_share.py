"""The share of a sender's segments that were retransmissions."""

import pandas as pd


def retransmit_percent(retransmits, data_bytes, mss_bytes) -> float | pd.Series:
    """Return retransmitted segments as a percentage of all segments sent, retransmissions included.

    Parameters
    ----------
    retransmits : int or pandas.Series
        Number of retransmitted segments.
    data_bytes : int or pandas.Series
        Data in bytes, each byte counted once, that the retransmissions belong to.
    mss_bytes : int or pandas.Series
        Payload of a full segment in bytes.

    Returns
    -------
    percent : float or pandas.Series
        From 0 to 100. An integer ``retransmits`` requires that something was sent.
    """
    again_bytes = retransmits * mss_bytes
    return 100 * again_bytes / (again_bytes + data_bytes)


def retransmit_percent_of(flows, mss_bytes) -> float:
    """Return the `retransmit_percent` of several flows together, or nan if a flow's retransmits are unknown.

    ``flows`` are rows of ``tidy/flows.csv``, and ``mss_bytes`` is the payload of a full segment in bytes.
    """
    return retransmit_percent(flows["retransmits"].sum(skipna=False), flows["bytes_received"].sum(), mss_bytes)
