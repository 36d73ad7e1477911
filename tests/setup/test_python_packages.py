"""Locked Python packages are installed by uv with the settings that pip has, and by pip if uv can't do it."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import python_packages


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """An empty environment, and a lock file for a wheel in a folder; returns the interpreter, the lock file and the wheel's folder."""
    wheel = tmp_path / "wheels/only-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("only.py", "")
        archive.writestr("only-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: only\nVersion: 1.0\n")
        archive.writestr("only-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("only-1.0.dist-info/RECORD", "")
    lock = tmp_path / "only.lock"
    lock.write_text(f"only==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    venv = tmp_path / "a venv"
    subprocess.run([sys._base_executable, "-m", "venv", "--without-pip", venv], check=True)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return str(venv / "bin/python"), lock, wheel.parent


def installer(python):
    (file,) = Path(python).parents[1].glob("lib/python*/site-packages/only-1.0.dist-info/INSTALLER")
    return file.read_text().strip()


@pytest.mark.parametrize(
    "cause", [None, *(pytest.param(cause, marks=pytest.mark.slow) for cause in ("no lock file for uv", "uv fails"))]
)
def test_packages_are_installed_by_uv_or_by_pip(environment, tmp_path, monkeypatch, cause):
    """pip's settings name the only place with the package."""
    python, lock, wheels = environment
    (tmp_path / "pip.conf").write_text(f"[global]\nno-index = true\nfind-links = /none\n    {wheels}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    for name in ("PIP_FIND_LINKS", "PIP_INDEX_URL", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    if cause == "no lock file for uv":
        monkeypatch.setattr(python_packages, "LOCK", tmp_path / "absent.lock")
    elif cause == "uv fails":
        monkeypatch.setenv("UV_LINK_MODE", "unknown")
    python_packages.install(python, lock, tmp_path / "log")
    assert installer(python) == ("pip" if cause else "uv")


@pytest.mark.slow
def test_another_package_than_the_locked_one_is_refused(environment, tmp_path, monkeypatch):
    python, lock, wheels = environment
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    lock.write_text(f"only==1.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(
        python_packages.SetupError, match=r"only.lock can't be fetched .*: a package arrived incomplete"
    ):
        python_packages.install(python, lock, tmp_path / "log")


def test_settings_of_pip_are_passed_to_uv(tmp_path, monkeypatch):
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://one.example/simple\n[install]\ntrusted-host =\n    a.example\n    b.example\n"
    )
    pip = python_packages.pip_command(sys._base_executable)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_FIND_LINKS", f"/none {tmp_path} https://links.example/")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://two.example/simple https://three.example/simple")
    monkeypatch.setenv("PIP_CERT", "/a/cert.pem")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    told = python_packages.uv_environment(pip, {"UV_INSECURE_HOST": "c.example", "HOME": "/h"})
    assert {name: value for name, value in told.items() if name not in python_packages.UV_SETTINGS} == {
        "UV_DEFAULT_INDEX": "https://one.example/simple",
        "UV_INDEX": "https://two.example/simple https://three.example/simple",
        "UV_FIND_LINKS": f"{tmp_path},https://links.example/",
        "UV_INSECURE_HOST": "c.example",
        "SSL_CERT_FILE": "/a/cert.pem",
        "UV_CACHE_DIR": str(python_packages.writable_entry("packages", "uv")),
        "HOME": "/h",
    }
