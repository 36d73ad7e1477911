"""Resources requested from a scheduler, compared with what jobs used."""

import math
import re

import pytest

from experiment.specification import RunSpecification
from session import run_cost
from study_files import study as studies
from testbed.machine.uml import MEMORY_PER_READING_BYTES, READINGS, memory_mib


def shared_by_runs(scenario):
    """Return the properties shared by the runs of a study with this one scenario."""
    study = {"study": "s", "ccas": ["reno"], "scenarios": [{"id": "a"} | scenario]}
    return studies.run_conditions(studies.resolve(study, "s.yaml"), "a")


def conditions(rate_mbps, delay_ms, flows, duration_s):
    """Return the shared properties of runs over a path with a queue of one bandwidth-delay product, or 33 packets."""
    packets = max(33, round(rate_mbps * 1e6 / 8 * 2 * delay_ms / 1e3 / 1514))
    link, traffic = {"rate_mbps": rate_mbps, "delay_ms": delay_ms}, {"duration_s": duration_s}
    return shared_by_runs({"link": link, "queue": {"packets": packets}, "flows": flows, "traffic": traffic})


# Peak of a whole Slurm job (RSS and shared memory of its control group: two Snakemakes, container, guest) and
# wall seconds of the run on a machine with four busy processes a core.
@pytest.mark.parametrize(
    ("path", "peak_mb", "wall_s"),
    [
        ((10, 10, 1, 5), 306, 2.8),
        ((100, 20, 4, 5), 319, 4.4),
        ((1000, 10, 1, 5), 326, 22.4),
        ((1000, 50, 12, 5), 441, 11.7),
        ((1000, 100, 64, 5), 664, 28.6),
    ],
)
def test_jobs_are_given_what_they_took_and_not_many_times_more(path, peak_mb, wall_s):
    shared = conditions(*path)
    assert 1.5 * peak_mb < run_cost.job_memory_mb(shared) < 4 * peak_mb
    # Fifty runs, where the spare minutes hardly count.
    assert 50 * wall_s < 60 * run_cost.job_runtime_min(50 * run_cost.run_time_s(shared)) < 50 * wall_s * 15


def test_longer_and_faster_runs_get_more_time():
    def minutes(*path, runs=50):
        return run_cost.job_runtime_min(runs * run_cost.run_time_s(conditions(*path)))

    assert minutes(10, 10, 1, 10) < minutes(100, 10, 1, 10) < minutes(1000, 10, 1, 10) < minutes(1000, 10, 1, 30)
    spare = run_cost.SPARE_MIN
    # Three times 50 x (2 s and 16 us for each of 2,476,882 packets of 1,514 bytes) are 104.1 minutes.
    assert minutes(1000, 10, 1, 30) - spare == 105
    assert minutes(1000, 10, 1, 30, runs=1) - spare == 3


def test_a_job_is_given_the_guest_at_its_full_size():
    """A guest cannot use more than its kernel was given, so no job is ended for lack of memory."""
    shared = conditions(1000, 100, 64, 5)
    assert run_cost.job_memory_mb(shared) * 1e6 > (memory_mib(RunSpecification(shared)) + 253) * 2**20


def memory_mb(scenario):
    """Return the memory requested for a job of a study with this one scenario, over a cable."""
    cable = {"topology": "cable", "queue": {"packets": 100}, "link": {"rate_mbps": 100, "delay_ms": 1}}
    return run_cost.job_memory_mb(shared_by_runs(cable | scenario))


def test_what_nothing_limits_is_given_memory_for_a_fast_kernel():
    links = ({"rate_mbps": rate_mbps, "delay_ms": 20} for rate_mbps in (None, 10_000, 100))
    unlimited, fast, slow = (memory_mb({"platform": "host", "link": link}) for link in links)
    assert unlimited == fast > slow


def test_each_path_of_mptcp_has_readings_of_its_own():
    by_mptcp = {"multipath": {"by": "mptcp", "paths": 8}}
    sampled = memory_mb(by_mptcp | {"traffic": {"sample_interval_ms": 1, "duration_s": 29}})
    not_sampled = memory_mb(by_mptcp | {"traffic": {"duration_s": 29}})
    needed = (8 * 29 * 1000 - READINGS) * MEMORY_PER_READING_BYTES
    assert sampled - not_sampled == pytest.approx(needed / 1e6, rel=0.1)


def test_a_simulated_run_costs_what_its_platform_says():
    """The same is requested for a simulated run, before its IP version is known."""
    shared = conditions(50, 50, 16, 40)
    linux = run_cost.run_time_s(shared), run_cost.job_memory_mb(shared)
    shared["scenario"]["platform"] = "ns3:3.44"
    # Ten to forty CPU seconds were measured of such a run, and less than 100 MiB.
    assert 20 < run_cost.run_time_s(shared) < 90 and run_cost.run_time_s(shared) > linux[0]
    assert run_cost.job_memory_mb(shared) < linux[1]
    assert run_cost.wall_limit_s(shared) > 5 * run_cost.run_time_s(shared)


def test_tidying_is_given_time_by_the_document():
    assert run_cost.tidy_runtime_min(16) == run_cost.SPARE_MIN + 1
    assert run_cost.tidy_runtime_min(14_400) == run_cost.SPARE_MIN + 36


def test_a_job_has_one_run_unless_told_otherwise():
    assert run_cost.job_size({"mem_mb": 500}) == (1, math.inf)
    assert run_cost.job_size({"runs": 50}) == (50, math.inf)
    assert run_cost.job_size({"minutes": 2}) == (run_cost.MOST_RUNS, 120)
    assert run_cost.job_size({"minutes": 2, "runs": 50}) == (50, 120)


@pytest.mark.parametrize("value", [0, -1, 2.5, "many", None])
@pytest.mark.parametrize("name", ["runs", "minutes"])
def test_other_sizes_of_jobs_are_refused_in_one_sentence(name, value):
    sentence = f"sawtooth: set-resources: emulate_run: {name} is {value!r}; allowed: whole numbers "
    with pytest.raises(SystemExit, match=re.escape(sentence)):
        run_cost.job_size({name: value})


def test_a_job_has_no_more_runs_than_a_command_line_has_room_for():
    with pytest.raises(SystemExit, match="runs is 1001; allowed: whole numbers from 1 to 1,000"):
        run_cost.job_size({"runs": run_cost.MOST_RUNS + 1})
