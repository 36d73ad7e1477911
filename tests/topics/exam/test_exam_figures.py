"""What the figures of an exam draw, on values whose truth is known."""

import numpy as np
import pandas as pd
import pytest

from topics.exam.plot_cases import POINTS, thinned
from topics.exam.plot_exam_shares import shares


def test_shares_are_means_over_valid_runs():
    rows = [
        ("5.2.1-before-reno", "mine", replication, valid, group, cca, goodput)
        for replication, valid, mine in ((1, True, 15.0), (2, True, 5.0), (3, False, 0.0))
        for group, cca, goodput in (("own", "mine", mine), ("other", "reno", 20.0 - mine))
    ]
    rows.append(("5.2.1-solo", "mine", 1, True, "", "mine", 19.0))
    names = ["scenario", "cca", "replication", "valid", "group", "flow_cca", "goodput_lifetime_mbps"]
    (cell,) = shares(pd.DataFrame(rows, columns=names).assign(ip_version="ipv4")).to_dict("records")
    assert (cell["scenario"], cell["row_cca"], cell["column_cca"], cell["runs"]) == ("before", "mine", "reno", 2)
    assert cell["value"] == pytest.approx(0.5)


def test_lines_are_thinned():
    """The mean of each hundredth of a line, or its largest value."""
    times = pd.Series(np.arange(0, 10, 0.01))
    means, largest = thinned(times, times, "mean"), thinned(times, times, "max")
    assert len(means) == POINTS and means["value"].to_numpy() == pytest.approx(means["time_s"].to_numpy(), abs=0.02)
    assert (largest["value"] > means["value"]).all()
