"""A stray `matplotlibrc` file changes no figure."""

import matplotlib

from figure_parts.figure_style import RC, apply_style


def test_what_another_file_has_set_is_taken_back(tmp_path):
    with matplotlib.rc_context():
        apply_style()
        ours = dict(matplotlib.rcParams)
        (tmp_path / "matplotlibrc").write_text("lines.dashed_pattern: 1, 9\nfont.size: 40\npath.sketch: 3, 50, 20\n")
        matplotlib.rc_file(tmp_path / "matplotlibrc")
        apply_style()
        assert dict(matplotlib.rcParams) == ours
        assert matplotlib.rcParams["path.sketch"] is None
        assert {key: matplotlib.rcParams[key] for key in ("path.simplify", "axes.unicode_minus")} == {
            key: RC[key] for key in ("path.simplify", "axes.unicode_minus")
        }
