"""Names under which a run's captures and its programs' logs are kept."""

import re

import pytest

from testbed.machine.handover import LOG_NAME


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("server-14001.a_b.qlog", True),
        ("client-14065.1.sqlog", True),
        ("server-14001.pcapng", False),
        ("server-14001.a.pcapng", False),
        ("server-14001.", False),
        ("h1-eth0.pcapng", False),
        ("server-14001./etc/passwd", False),
    ],
)
def test_a_log_is_kept_unless_its_name_is_like_that_of_a_capture(name, kept):
    assert bool(re.fullmatch(LOG_NAME, name)) is kept
