"""The module that set-up installs to start Snakemake faster: it loads fewer modules and changes nothing else."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from environment import quicken_snakemake
from quick_start import is_snakemake

#: Which of the modules named have been loaded, and not only found.
LOADED = (
    "import sys; print('LOADED', *[name for name in ('pandas', 'numpy', 'requests', 'nbformat', 'jsonschema')"
    " if f'{name}.' in {module[: len(name) + 1] for module in sys.modules}])"
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment as left by set-up, with the packages of the environment that runs the tests."""
    venv = tmp_path_factory.mktemp("quick") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    quicken_snakemake(venv)
    for name in ("snakemake", "other"):
        (venv / "bin" / name).write_text(
            f"import atexit, sys\natexit.register(lambda: exec({LOADED!r}))\n"
            "if sys.argv[1:2] == ['-c']:\n    exec(sys.argv[2])\n"
            "else:\n    from snakemake.cli import main\n    main()\n"
        )
    (venv / "bin" / "apptainer").symlink_to(Path(sys.executable).with_name("apptainer"))
    return venv


def call(venv, program, *words, folder=None):
    """Return the modules that a program has loaded at its end, and its output until then."""
    done = subprocess.run(
        [venv / "bin/python", "-I", venv / "bin" / program, *words], cwd=folder, capture_output=True, text=True
    )
    output, _, loaded = done.stdout.rpartition("LOADED")
    assert done.returncode == 0, done.stdout + done.stderr
    return loaded.split(), output


@pytest.mark.slow
def test_a_dry_run_loads_no_pandas(environment, root, tmp_path):
    (tmp_path / "envs").symlink_to(root / "envs")
    (tmp_path / "config").symlink_to(root / "config")
    words = ("-n", "--cores", "1", "--configfile", "config/studies/smoke.yaml", "--directory", tmp_path)
    (tmp_path / ".snakemake").mkdir()
    # The first call compares the study and its claims with their schemas.
    assert call(environment, "snakemake", *words, folder=root)[0] == ["jsonschema"]
    assert call(environment, "snakemake", *words, folder=root)[0] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import pandas as pd; print(pd.DataFrame({'a': [1, 2]}).sum().a)",
        "from pandas import DataFrame; print(DataFrame({'a': [1, 2]}).sum().a)",
        "import pandas.core.frame as frame; print(frame.DataFrame({'a': [1, 2]}).sum().a)",
        "import numpy.linalg as l; print(round(l.norm([1, 2, 2])))",
        "import numpy as np; print(isinstance(np.arange(2), np.ndarray) + 2)",
        "import numpy, PIL.Image as i; print(numpy.asarray(i.new('L', (2, 3))).shape)",
        "from nbformat import v4; import numpy; print(v4.new_notebook().nbformat, numpy.int8(3))",
        "import pkgutil, numpy; print([len([*pkgutil.iter_modules()]), len([*pkgutil.iter_modules(numpy.__path__, 'n.')])] * 2)",
        # As a module of Snakemake asks it.
        "__name__ = 'snakemake.iocontainers'; import numpy as np; n = np.ndarray; print(3 - isinstance(3, n));"
        "print(n((2,)).size, isinstance(np.arange(2), np.ndarray))",
    ],
)
def test_late_modules_are_what_they_are(environment, code):
    (_, printed), (loaded, other) = call(environment, "snakemake", "-c", code), call(environment, "other", "-c", code)
    assert printed == other
    assert "numpy" in loaded


def test_asking_for_an_instance_loads_nothing(environment):
    code = "__name__ = 'snakemake.persistence'; import pandas as pd; print(isinstance(1, (pd.DataFrame, pd.Series, pd.Index)))"
    assert call(environment, "snakemake", "-c", code) == ([], "False\n")
    assert call(environment, "other", "-c", code)[0] == ["pandas", "numpy"]


def test_threads_that_ask_at_once_get_one_module(environment):
    code = (
        "import pandas as pd; from concurrent.futures import ThreadPoolExecutor as Pool;"
        "print(len(set(Pool(8).map(lambda _: pd.DataFrame, range(64)))))"
    )
    assert call(environment, "snakemake", "-c", code)[1] == "1\n"


@pytest.mark.parametrize(
    "words, expected",
    [
        (["python", "-I", "/a b/bin/snakemake", "-n"], True),
        (["python", "-m", "snakemake"], True),
        (["python", "-m", "pytest", "snakemake"], False),
        (["python", "-c", "pass"], False),
        (["python"], False),
    ],
)
def test_processes_of_snakemake(words, expected):
    assert is_snakemake(words) is expected
