"""Libraries from outside the image are refused before they are imported."""

import sys

import pytest
from image_libraries import require_image_libraries


def test_libraries_of_this_python_pass():
    require_image_libraries("pandas", "numpy")


def test_foreign_library_is_refused_without_importing_it(tmp_path, monkeypatch):
    (tmp_path / "foreignlibrary.py").write_text("raise RuntimeError('imported')\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    with pytest.raises(ImportError, match=r"foreignlibrary would be loaded from .*outside"):
        require_image_libraries("foreignlibrary")


def test_missing_library_is_named():
    with pytest.raises(ImportError, match="no_such_library is not installed in the analysis image"):
        require_image_libraries("no_such_library")


def test_namesake_folder_does_not_pass_for_the_image(tmp_path, monkeypatch):
    # /opt/image-packages is not inside /opt/image
    (tmp_path / "image-packages").mkdir()
    (tmp_path / "image-packages" / "foreignlibrary.py").write_text("")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "image-packages")])
    with pytest.raises(ImportError, match="outside"):
        require_image_libraries("foreignlibrary", image_paths=[str(tmp_path / "image")])
