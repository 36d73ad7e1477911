"""Set up Sawtooth in a checkout: python3 setup [--check COMMAND | environment | bundle [FOLDER] | images ... | stack NAME... | lock | docs |
clean-cache].

Set-up makes the workflow environment, finds or fetches Apptainer, and builds the container images or imports them from SAWTOOTH_IMAGES.
All results are cached by content, so a second call has nothing to do. In an unpacked bundle, set-up takes everything from the bundle.
"""

import os
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
if os.path.isdir(ROOT + "/bundle") and not os.path.realpath(sys.prefix).startswith(ROOT + "/bundle/"):
    # An unpacked bundle contains Python, so this machine's Python isn't used.
    os.execv("/bin/sh", ["sh", ROOT + "/bundle/python3", ROOT + "/setup"] + sys.argv[1:])
if sys.version_info < (3, 11):
    sys.exit(
        "sawtooth: Python 3.11 or newer is needed, and %s is %d.%d: install one and name it, `make PYTHON=python3.11`."
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )

import json  # noqa: E402
from pathlib import Path  # noqa: E402

sys.path += [ROOT + "/workflow/scripts", ROOT + "/workflow"]

import begun_studies  # noqa: E402
import bundle  # noqa: E402
import environment  # noqa: E402
import images  # noqa: E402
import kernels  # noqa: E402
import lock  # noqa: E402
import machine  # noqa: E402
import packed_images  # noqa: E402
import stacks  # noqa: E402
import stepwise_build  # noqa: E402
import taken_images  # noqa: E402
import tested_parts  # noqa: E402
import toolbox  # noqa: E402
import unpacked  # noqa: E402
from cache import delete_cache  # noqa: E402
from progress import SetupError, refuse, say  # noqa: E402
from session.surroundings import path_problem  # noqa: E402


def set_up(check=None):
    """Check the machine, make the workflow environment, and provide Apptainer and the images.

    Parameters
    ----------
    check : str, optional
        Shell command that checks what the images are needed for. It is run before images are built; if it fails, its output is printed and
        SystemExit raised.
    """
    check_checkout()
    definitions = images.definitions()
    named = os.environ.get("SAWTOOTH_IMAGES")
    missing = [] if named else images.missing_images(images.wanted_images(definitions))
    machine.check_architecture()
    machine.check_user_namespaces(toolbox.find_apptainer())
    toolbox.check_programs(bool(missing))
    if missing:
        say(images.why_built(missing))
        machine.check_image_building()
        images.check_sources()
    environment.make_environment()
    if missing and check:
        require_success(check)
    given = taken_images.provide(Path(named)) if named else {}
    apptainer = toolbox.provide_apptainer(environment.VENV)
    tools = toolbox.building_environment(environment.VENV) if missing else None
    for definition in definitions:
        if definition in missing:
            images.build_image(definition, apptainer, tools, environment.VENV / "bin/python")
        folder = given.get(definition.stem) or images.cached_image(definition)[1]
        images.link_image(definition, folder)
        if named and not folder.exists():
            say(
                f"{named} has no image {definition.stem}: jobs that need it can't run (`make setup` without SAWTOOTH_IMAGES builds it)"
            )
    there = [each for each in (definition.with_suffix(".sif") for definition in definitions) if each.exists()]
    toolbox.check_runs(environment.VENV / "bin/apptainer", there[0])


def check_checkout():
    """Raise SetupError if the checkout's path is unsuitable, or if this is a bundle and files are missing."""
    if problem := path_problem(ROOT):
        raise SetupError(problem)
    if unpacked.is_unpacked_bundle():
        unpacked.check_whole()


def require_success(command):
    """Run a shell command; if it fails, print its output and raise SystemExit."""
    done = subprocess.run(
        ["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if done.returncode:
        print(done.stdout, end="", file=sys.stderr, flush=True)
        raise SystemExit(1)


def pack_images(arguments):
    """Pack images into an archive: the named images, the images used for a study's results (`--of RESULTS`), or otherwise all images."""
    if arguments[:1] == ["--of"] and len(arguments) == 2:
        results = Path(arguments[1])
        archive, names = results.with_name(results.name + packed_images.SUFFIX), packed_images.images_of(results)
    else:
        archive, names = Path("sawtooth" + packed_images.SUFFIX), arguments
    packed_images.pack(archive, names or [definition.stem for definition in images.definitions()])


def main():
    """Run the command given on the command line, and return the exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if sys.argv[1:] == ["lock"]:
            environment.make_environment()
            lock.write_locks(str(environment.VENV / "bin/python"))
        elif sys.argv[1:] == ["docs"]:
            environment.make_docs_environment()
        elif sys.argv[1:] == ["environment"]:
            check_checkout()
            environment.make_environment()
        elif sys.argv[1:2] == ["bundle"] and len(sys.argv) <= 3:
            bundle.make_bundle(Path(*sys.argv[2:]))
        elif sys.argv[1:2] == ["begun"] and len(sys.argv) == 3:
            begun_studies.check_images(Path(sys.argv[2]))
        elif sys.argv[1:2] == ["images"]:
            pack_images(sys.argv[2:])
        elif sys.argv[1:2] == ["kernel"] and len(sys.argv) > 5:
            name, linux, description, *files = sys.argv[2:]
            kernel = json.loads(files.pop(0)) if files[0].startswith("{") else None
            sources = {Path(path): sha256 for path, _, sha256 in (file.rpartition("=") for file in files)}
            kernels.provide_kernel(name, Path(linux), Path(description), sources, kernel)
        elif sys.argv[1:2] == ["step"] and len(sys.argv) > 4:
            name, linux, kernel, *files = sys.argv[2:]
            sources = {Path(path): sha256 for path, _, sha256 in (file.rpartition("=") for file in files)}
            stepwise_build.provide_step(name, Path(linux), json.loads(kernel), sources)
        elif sys.argv[1:2] == ["selftests"] and len(sys.argv) in (4, 5):
            folder, source, *kernel = sys.argv[2:]
            tested_parts.provide_selftests(Path(folder), Path(source), json.loads(*kernel) if kernel else None)
        elif sys.argv[1:2] == ["stack"]:
            stacks.provide_stacks(sys.argv[2:])
        elif sys.argv[1:] == ["clean-cache"]:
            delete_cache()
        elif sys.argv[1:2] == ["--check"] and len(sys.argv) == 3:
            set_up(sys.argv[2])
        elif sys.argv[1:]:
            raise SetupError(
                f"unknown arguments {sys.argv[1:]}: allowed: --check COMMAND, environment, bundle [FOLDER], images, stack NAME..., lock, docs and clean-cache."
            )
        else:
            set_up()
    except SetupError as error:
        refuse(error)
        return stepwise_build.NOT_BUILT if isinstance(error, stepwise_build.NotBuiltError) else 1
    except subprocess.CalledProcessError as error:
        return refuse(f"{error.cmd[0]} failed (exit status {error.returncode}).")
    except OSError as error:
        return refuse(f"{error.filename or 'set-up'}: {error.strerror or error}.")
    except KeyboardInterrupt:
        say("\ninterrupted; run the command again to continue from here")
        return 130
    return 0


if __name__ == "__main__":
    # Paths given to these three commands are relative to the caller's folder.
    if sys.argv[1:2] not in (["kernel"], ["step"], ["selftests"]):
        os.chdir(ROOT)
    sys.exit(main())
