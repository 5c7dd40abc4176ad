"""test_slow_patterns.py - a careless regular expression meets bodies that were made for it: nobody waits for long."""
import contextlib
import sys
import threading
import time

import pytest
from thrift.Thrift import TException

from flume_api import Status, ThriftFlumeEvent, flume_client
from leat import BUSY, needs, wait_until
from thrift_agent import config

PATTERN = {"type": "regex-filter", "regex": "(a+)+$", "exclude-events": True}

# Tenths of a second of searching each, without reaching the limit at which the search gives up by itself.
SLOW = ThriftFlumeEvent({}, b"aaaaaaaaaaaaaab" * 2200)

# As the unit of systemd has it: PCRE2 then cannot compile a pattern, and interprets it.
NOT_EXECUTABLE = [sys.executable, "-c",
                  "import ctypes, os, sys; ctypes.CDLL(None).prctl(65, 1, 0, 0, 0); os.execvp(sys.argv[1], sys.argv[1:])"]

both_ways = pytest.mark.parametrize("prefix", [[], NOT_EXECUTABLE], ids=["compiled", "interpreted"])


class Sender(threading.Thread):
    """Sends one batch; answer is what came back."""

    def __init__(self, port, batch):
        super().__init__(daemon=True)
        self.port, self.batch = port, batch
        self.answer = None
        self.start()

    def run(self):
        with contextlib.suppress(TException, OSError), flume_client(self.port) as client:
            self.answer = client.appendBatch(self.batch)


@both_ways
@needs("libsoup")
def test_a_batch_that_takes_too_long_is_refused_and_others_of_its_loop_are_served(leat, prefix):
    agent = leat(config(source={"threads": 1, "intercept-timeout": "200ms", "interceptors": [PATTERN]}), prefix=prefix)
    hostile = Sender(agent.port("apps"), [SLOW] * 30)
    wait_until(lambda: agent.metric("leat_source_events_received_total") == 30, "the batch is being searched")

    begin = time.monotonic()
    with flume_client(agent.port("apps")) as client:
        assert client.append(ThriftFlumeEvent({}, b"honest")) == Status.OK
        assert time.monotonic() - begin < 2 + BUSY
        hostile.join(20)
        assert hostile.answer == Status.FAILED
        assert client.append(SLOW) == Status.OK  # alone, it has its half of the time and goes on as it is

    [refused] = agent.log("request refused")
    assert refused["detail"].startswith("the batch took more than intercept-timeout (200 ms) of processor time, at last in "
                                        "'apps.interceptors[0]' (regex-filter); simplify its regular expression")
    assert agent.log("regular expression gave up, event unchanged", interceptor="apps.interceptors[0]")
    assert agent.metric("leat_source_intercept_failures_total") == 1
    assert agent.flume_metrics()["SOURCE.apps"]["GenericProcessingFail"] == "1"
    counts = {name: agent.metric(f"leat_source_events_{name}_total") for name in ("received", "accepted", "refused")}
    assert counts == {"received": 32, "accepted": 2, "refused": 30}


@both_ways
@needs("libsoup")
def test_a_stop_does_not_wait_for_a_batch_that_is_being_searched(leat, prefix):
    agent = leat(config(source={"threads": 1, "intercept-timeout": "1h", "interceptors": [PATTERN]},
                        agent={"shutdown-timeout": "1s"}), prefix=prefix)
    senders = [Sender(agent.port("apps"), [SLOW] * 30) for _ in range(3)]
    wait_until(lambda: agent.metric("leat_source_events_received_total") >= 30, "one of them is being searched")

    begin = time.monotonic()
    agent.stop()

    assert time.monotonic() - begin < 1 + BUSY
    assert agent.log("stopped")
    for sender in senders:
        sender.join(20)
    assert Status.OK not in [sender.answer for sender in senders]
    assert all(entry["detail"] == "the agent is stopping" for entry in agent.log("request refused"))
