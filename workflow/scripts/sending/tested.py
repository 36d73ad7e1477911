"""The kernel's own tests on the base and on the patched kernel: new failures, new passes, added and removed tests."""

from dataclasses import dataclass, field

from kernel_tests.results import counts, write_results
from kernel_tests.run_selftests import FOLDER, tests_of
from publishing.result_checks.received_folder import temporary_folder
from selftests.verdicts import FAILED, NOT_FIT, PASSED
from wording.number_format import count


@dataclass(frozen=True)
class BothResults:
    """Results of the kernel's own tests on the base and on the patched kernel.

    Attributes
    ----------
    base, patched : list of dict
        Tests, each a dict with the keys script, ip_version, result and reason.
    """

    base: list[dict] = field(default_factory=list)
    patched: list[dict] = field(default_factory=list)

    def changed(self, after, before=None) -> list[dict]:
        """Return the tests that have a given result on the patched kernel and a different result on the base.

        Parameters
        ----------
        after : str
            Result on the patched kernel.
        before : str or None, optional
            Result on the base, or None for any result that differs from ``after``. Tests that are missing on the base are left out.
        """
        had = _by_test(self.base)
        return [
            test
            for name, test in _by_test(self.patched).items()
            if test["result"] == after and name in had and had[name]["result"] != after
            and before in (None, had[name]["result"])
        ]  # fmt: skip

    @property
    def newly_failed(self) -> list[dict]:
        """The tests that fail on the patched kernel but have another result on the base."""
        return self.changed(FAILED)

    @property
    def newly_passed(self) -> list[dict]:
        """The tests that pass on the patched kernel but have another result on the base."""
        return self.changed(PASSED)

    @property
    def not_fit_any_more(self) -> list[dict]:
        """The tests that can be executed on the base but not on the patched kernel."""
        return self.changed(NOT_FIT)

    @property
    def added(self) -> list[dict]:
        """The tests that exist only in the source of the patched kernel."""
        had = _by_test(self.base)
        return [test for name, test in _by_test(self.patched).items() if name not in had]

    @property
    def removed(self) -> list[dict]:
        """The tests that exist only in the source of the base."""
        has = _by_test(self.patched)
        return [test for name, test in _by_test(self.base).items() if name not in has]

    @property
    def failed_of_added(self) -> list[dict]:
        """The tests that were added by the series and fail."""
        return [test for test in self.added if test["result"] == FAILED]


def _by_test(tests):
    return {(test["script"], test["ip_version"]): test for test in tests}


def test_both(packetdrill, base, patched) -> BothResults:
    """Run the kernel's own tests on both kernels, or reuse existing results.

    Parameters
    ----------
    packetdrill : pathlib.Path
        Path of packetdrill's source.
    base, patched : kernel_tests.named_kernel.NamedKernel

    Raises
    ------
    kernel_tests.run_selftests.SelftestsError
        The tests can't be run.
    """
    of_base, of_patched = (_tests(packetdrill, named) for named in (base, patched))
    return BothResults(of_base, [judged_again(test, of_base) for test in of_patched])


def judged_again(test, base) -> dict:
    """Return a test's result on the patched kernel, given the results on the base.

    A test that is not fit for the patched kernel counts as failed if the same script passed on the base, because the script then needs
    nothing that this guest doesn't have.
    """
    passed = {name: one["script_sha256"] for name, one in _by_test(base).items() if one["result"] == PASSED}
    name = test["script"], test["ip_version"]
    if test["result"] != NOT_FIT or passed.get(name) != test["script_sha256"]:
        return test
    last = test["last_lines"][-1:] or ["packetdrill printed nothing"]
    return test | {"result": FAILED, "reason": f"the same script passed on the base; {last[0]}"}


def _tests(packetdrill, named):
    folder = FOLDER / named.name
    with temporary_folder() as place:
        about, tests, outputs = tests_of(packetdrill, named, place, kept=folder)
    if outputs is not None:
        write_results(folder, about, tests, outputs)
    return tests


def names_of(tests) -> list[str]:
    """Return one text per test script, with the tested IP versions, such as "tcp_close.pkt (ipv4, ipv6)"."""
    versions: dict[str, list[str]] = {}
    for test in tests:
        versions.setdefault(test["script"], []).append(test["ip_version"])
    return [f"{script} ({', '.join(of)})" if any(of) else script for script, of in versions.items()]


def counts_words(tests) -> str:
    """Return how many tests have each result, in words."""
    found = counts(tests)
    return f"{count(len(tests), 'test')}: {found[PASSED]} passed, {found[FAILED]} failed, {found[NOT_FIT]} not fit"
