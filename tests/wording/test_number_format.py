"""Numbers as texts: digits, thousands, exponents, counts."""

import pytest

from wording import number_format


@pytest.mark.parametrize(
    "value, shown",
    [(935.5321, "935.5"), (3.5617, "3.562"), (0.99876, "0.999"), (0.0011904, "0.0012"),
     (12345.6, "12,346"), (0, "0"), (None, "–"), (float("nan"), "–"), (-0.0, "0")],
)  # fmt: skip
def test_numbers_as_shown(value, shown):
    assert number_format.number(value) == shown


def test_small_numbers_as_shown():
    assert number_format.interval_words(931.21, 935.66, 933.4) == "931.2 to 935.7"
    assert number_format.p_value(0.00004) == "< 0.001"
    assert [number_format.tick(v) for v in (0, 0.00001, 0.01, 1000, 20000, 3e6)] == [
        "0", "0.00001", "0.01", "1,000", "20k", "3M"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "value, shown", [(0.00001, "0.00001"), (1e11, "100,000,000,000"), (20.0, "20"), (0.1 + 0.2, "0.3"), (-0.5, "-0.5")]
)
def test_no_configured_number_is_shown_with_an_exponent(value, shown):
    assert number_format.plain(value) == shown


def test_numbers_read_from_tables_are_counted_as_whole_numbers():
    assert [number_format.count(n, "run") for n in (1.0, 4.0, 12000, "5 to 7")] == [
        "1 run", "4 runs", "12,000 runs", "5 to 7 runs",
    ]  # fmt: skip
