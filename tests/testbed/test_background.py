"""The model of a server's other traffic: its draws, its messages, the two programs together, and the check."""

import contextlib
import itertools
import os
import socket
import threading
import time
from dataclasses import replace

import pytest

from guest_processes import wait_for
from testbed.traffic import background
from testbed.traffic.background import SERVICES, Requests, check_background, messages, padded

ASKED = {"requests": 20, "answers": 20, "request_bytes": 800, "answer_bytes": 3000, "answer_segments": 20, "served": 20}


def first(service, seed, count=2000):
    return list(itertools.islice(messages(service, seed), count))


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.name)
def test_draws_follow_from_the_seed_and_have_rate_and_sizes_of_the_model(service):
    drawn = first(service, 7)
    assert drawn == first(service, 7)
    assert drawn != first(service, 8)
    assert drawn[0][0] == 0  # a client that comes up
    # The mean of 2000 exponential times is known to 7 % (three standard errors).
    assert drawn[-1][0] / (len(drawn) - 1) == pytest.approx(1 / service.requests_per_s, rel=0.07)
    for place, (low, high) in ((1, service.request_bytes), (2, service.answer_bytes)):
        assert {min(message[place] for message in drawn), max(message[place] for message in drawn)} <= set(
            range(low, high + 1)
        )


def test_services_draw_independently():
    dns, dhcp, _ = (first(service, 7, 5) for service in SERVICES)
    assert [at for at, *_ in dns[1:]] != [
        at * SERVICES[1].requests_per_s / SERVICES[0].requests_per_s for at, *_ in dhcp[1:]
    ]


def test_messages_fit_the_protocols():
    dns, dhcp, directory = SERVICES
    assert dns.answer_bytes[1] <= 512  # RFC 1035, 2.3.4
    assert dhcp.answer_bytes[1] + 20 + 8 <= 576 and dhcp.request_bytes[0] == 300  # RFC 2131, 2; RFC 951
    assert {service.port for service in SERVICES} == {53, 67, 389}
    assert all(service.request_bytes[0] >= background.HEAD.size for service in SERVICES)
    assert directory.protocol == "tcp"


def test_a_stream_is_cut_into_messages_however_it_arrives():
    stream = padded(1, 100, 900) + padded(2, 8, 30) + padded(3, 300, 4000)
    wanted = [(1, 100, 900), (2, 8, 30), (3, 300, 4000)]
    for step in (1, 7, 99, 100, 101, len(stream)):
        cut = Requests()
        assert [one for at in range(0, len(stream), step) for one in cut.whole(stream[at : at + step])] == wanted
    cut = Requests()
    assert cut.whole(stream[:-1]) == wanted[:2]


@pytest.fixture
def high_ports(monkeypatch):
    """Services on free ports, with ten times the usual rates."""
    moved = []
    for service in SERVICES:
        with socket.socket(
            socket.AF_INET, socket.SOCK_STREAM if service.protocol == "tcp" else socket.SOCK_DGRAM
        ) as free:
            free.bind(("127.0.0.1", 0))
            moved.append(replace(service, port=free.getsockname()[1], requests_per_s=10 * service.requests_per_s))
    monkeypatch.setattr(background, "SERVICES", tuple(moved))


class PythonsTimer:
    """A replacement for the kernel's timer, which Python provides from 3.13 on."""

    #: How often it has rung; at the first rings each service asks once.
    rings = 0

    def __enter__(self):
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        self._waiting = None
        return self

    def __exit__(self, *_):
        self._waiting.cancel()
        for handle in (self._read, self._write):
            os.close(handle)

    def fileno(self):
        return self._read

    def begin(self):
        self._origin_s = time.monotonic()

    def set(self, at_s):
        if self._waiting:
            # One that has just rung rings no more, as timerfd_settime(2) has it.
            self._waiting.cancel()
            self._waiting.join()
            with contextlib.suppress(BlockingIOError):
                os.read(self._read, 64)
        self._waiting = threading.Timer(max(0, self._origin_s + at_s - time.monotonic()), os.write, (self._write, b"!"))
        self._waiting.start()

    def stop(self):
        PythonsTimer.rings += os.read(self._read, 1) == b"!"


def test_client_and_server_agree_on_what_was_asked_and_answered(high_ports, capfd, monkeypatch):
    monkeypatch.setattr(background, "Timer", PythonsTimer)
    monkeypatch.setattr(PythonsTimer, "rings", 0)
    (server_in, server_end), (client_in, client_end) = os.pipe(), os.pipe()
    counted = {}
    threads = [
        threading.Thread(target=lambda: counted.update(served=background.serve("127.0.0.1", server_in))),
        threading.Thread(target=lambda: counted.update(asked=background.ask("127.0.0.1", "5", client_in))),
    ]
    threads[0].start()
    wait_for(lambda: "ready" in capfd.readouterr().out, "a server that is ready")
    threads[1].start()
    wait_for(lambda: PythonsTimer.rings >= 20, "20 requests")
    os.close(client_end)
    threads[1].join()
    os.close(server_end)
    threads[0].join()
    for handle in (server_in, client_in):
        os.close(handle)
    assert counted["asked"].keys() == counted["served"].keys() == {"dns", "dhcp", "directory"}
    for name, counts in counted["asked"].items():
        assert counts["requests"] == counts["answers"] == counted["served"][name] > 0
        assert counts["answer_bytes"] > counts["request_bytes"] or name == "dhcp"
    drawn = first(background.SERVICES[0], "5", counted["asked"]["dns"]["requests"])
    assert counted["asked"]["dns"]["request_bytes"] == sum(length for _, length, _ in drawn)
    assert counted["asked"]["dns"]["answer_bytes"] == sum(length for *_, length in drawn)


@pytest.mark.parametrize(
    ("change", "ok"),
    [({}, True), ({"answers": 18}, True), ({"answers": 17}, False), ({"requests": 0, "answers": 0}, False)],
)
@pytest.mark.parametrize("service", ["dns", "dhcp", "directory"])
def test_each_service_must_have_answered(change, ok, service):
    answers = {name: dict(ASKED) for name in ("dns", "dhcp", "directory")}
    answers[service] |= change
    assert check_background(None, {"background": answers}).ok is ok


def test_a_run_without_the_section_fails_the_check():
    assert not check_background(None, {}).ok
