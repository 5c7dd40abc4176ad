"""test_tiers_dip.py - how the throughput of an edge dips when one of its two collectors is killed, or frozen.

The edge's own counter of what was acknowledged is read again and again. What was seen is in docs/decisions/host-choice.md;
pytest -s shows it.
"""
import itertools
import signal
import statistics
import time

import pytest

from leat import wait_until
from thrift_agent import config
from tiers import Pulse, edge

pytestmark = pytest.mark.alone
RATE = 20000  # events a second
BATCH = 200
WINDOW = 0.05  # seconds, as all that follows
LATE = 0.8  # the machine aside, a pause so long has a reason


def sample(agent, seconds):
    """[(time, events acknowledged until then)]"""
    until = time.monotonic() + seconds
    samples = []
    while time.monotonic() < until:
        n_events = agent.metric("leat_sink_events_delivered_total")
        samples.append((time.monotonic(), n_events))  # only now: an answer that took long is no older than this
    return samples


def pauses(samples, since=0.0):
    """Seconds in which nothing was acknowledged, and which ended after `since`; the longest first."""
    changes = [when for (when, n), (_, n_before) in zip(samples[1:], samples) if n > n_before]
    return sorted((later - earlier for earlier, later in zip(changes, changes[1:]) if later > since), reverse=True)


def rates(samples):
    """Events a second of each window."""
    firsts = [next(group) for _, group in itertools.groupby(samples, key=lambda each: each[0] // WINDOW)]
    return [(later[1] - earlier[1]) / (later[0] - earlier[0]) for earlier, later in zip(firsts, firsts[1:])]


def pauses_after(before, after):
    """The same, since the fault; tells of it."""
    found = pauses(before + after, after[0][0])
    print(f"{statistics.median(rates(before)):.0f} events/s before; then {min(rates(after)):.0f} in the worst "
          f"{WINDOW * 1000:.0f} ms, {statistics.median(rates(after)):.0f} in the median; longest pauses "
          f"{', '.join(f'{pause * 1000:.0f}' for pause in found[:3])} ms, before {pauses(before)[0] * 1000:.0f} ms")
    return found


@pytest.fixture
def collectors(leat):
    return [leat(config(agent={"http": "off"})) for _ in range(2)]


@pytest.fixture
def make_edge(leat, collectors):
    """A function that starts an edge with such a request-timeout, and returns once it sends."""
    def make(timeout):
        agent = leat(edge([f"127.0.0.1:{each.port('apps')}" for each in collectors], {"rate": RATE, "batch-size": BATCH},
                          {"client": "load-balance", "in-flight": 4, "batch-size": BATCH, "request-timeout": timeout,
                           "connect-timeout": timeout, "max-host-backoff": "200ms"}))
        wait_until(lambda: agent.metric("leat_sink_events_delivered_total") > RATE // 10, "events arrive")
        return agent
    return make


@pytest.fixture
def pulse(far_end, leat):
    return Pulse(leat, far_end("pulse"))


def test_a_collector_that_is_killed_makes_no_pause_to_speak_of(pulse, collectors, make_edge):
    agent = make_edge("5s")

    before = sample(agent, 1.0)
    collectors[0].kill()
    after = sample(agent, 1.0)
    agent.stop()

    assert pulse.missed(before[0][0]) or pauses_after(before, after)[0] < LATE
    assert agent.wait_for_log("stopped")["events_lost"] == 0


def test_a_collector_that_is_frozen_makes_one_pause_of_the_request_timeout(pulse, collectors, make_edge):
    agent = make_edge("1s")

    before = sample(agent, 1.0)
    collectors[0].signal(signal.SIGSTOP)
    after = sample(agent, 4.0)
    collectors[0].signal(signal.SIGCONT)
    agent.stop()

    if not pulse.missed(before[0][0]):
        first, second, *_ = pauses_after(before, after)
        assert 0.9 < first < 1.0 + LATE and second < LATE
    assert agent.wait_for_log("stopped")["events_lost"] == 0
