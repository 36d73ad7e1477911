"""No two panels of a figure look alike, in whatever study: their texts and descriptions differ."""

import pytest

from drawn_figure import panels_alike

STUDIES = ("real_shape", "small", "all_ccas", "cwnd_study", "fairness_study", "buffer_study")


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_panels_of_a_figure_have_different_texts(name, request):
    figures = sorted(request.getfixturevalue(name).folder.glob("figures/*.svg"))
    alike = {path.name: panels_alike(path) for path in figures}
    assert figures and {figure: panels for figure, panels in alike.items() if panels} == {}
