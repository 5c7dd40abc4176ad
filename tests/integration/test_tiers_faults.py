"""test_tiers_faults.py - one of two collectors is killed or frozen under load, both go away, sinks fail over: nothing that was
acknowledged is lost, and only what was on its way comes twice."""
import collections

import pytest

from leat import wait_until
from test_tiers import edge, far_end, numbers  # noqa: F401

RATE = 4000  # events a second
BATCH = 100
TIMEOUT = 0.5  # seconds


def two_hosts(client, ends, count, **sink):
    return edge([end.address for end in ends], {"rate": RATE, "count": count},
                {"client": client, "batch-size": BATCH, "request-timeout": f"{int(TIMEOUT * 1000)}ms",
                 "connect-timeout": f"{int(TIMEOUT * 1000)}ms", "max-host-backoff": "500ms", **sink})


def assert_all_arrived(ends, count, duplicates_allowed):
    """Waits until every number is somewhere; then how often they came twice."""
    wait_until(lambda: {body for end in ends for body in end.bodies} >= set(numbers(count)), "every number has arrived")
    seen = collections.Counter(body for end in ends for body in end.bodies)
    duplicates = sum(times - 1 for times in seen.values())
    print(f"{[len(end.bodies) for end in ends]} events, {duplicates} duplicates")
    assert len(seen) == count and duplicates <= duplicates_allowed


def longest_gap(times):
    return max(later - earlier for earlier, later in zip(times, times[1:]))


@pytest.mark.parametrize("client, in_flight", [("failover", 1), ("load-balance", 4)])
def test_one_of_two_collectors_is_killed_under_load(far_end, leat, client, in_flight):  # noqa: F811
    ends = [far_end("a"), far_end("b")]
    leat(two_hosts(client, ends, 2 * RATE, **{"in-flight": in_flight}))

    ends[0].wait_for(RATE // 4)
    ends[0].kill()

    assert_all_arrived(ends, 2 * RATE, BATCH * in_flight)
    assert longest_gap(sorted(ends[0].times + ends[1].times)) < TIMEOUT


@pytest.mark.parametrize("client, in_flight", [("failover", 1), ("load-balance", 4)])
def test_one_of_two_collectors_is_frozen_under_load(far_end, leat, client, in_flight):  # noqa: F811
    ends = [far_end("a"), far_end("b")]
    leat(two_hosts(client, ends, 3 * RATE, **{"in-flight": in_flight}))

    ends[0].wait_for(RATE // 4)
    ends[0].freeze()
    wait_until(lambda: sum(len(end.bodies) for end in ends) > 2 * RATE, "the other has taken over")
    ends[0].thaw()

    # It may have been frozen more than once: each time it is tried again, what it gets is on its way.
    assert_all_arrived(ends, 3 * RATE, BATCH * in_flight * 8)
    assert longest_gap(sorted(ends[0].times + ends[1].times)) < TIMEOUT + 1


def test_a_host_that_is_back_gets_its_share_again(far_end, leat):  # noqa: F811
    ends = [far_end("a"), far_end("b", start=False)]
    agent = leat(two_hosts("load-balance", ends, 0))

    ends[0].wait_for(RATE // 2)
    ends[1].start()
    ends[1].wait_for(1)
    before = [len(end.bodies) for end in ends]
    wait_until(lambda: sum(len(end.bodies) for end in ends) > sum(before) + RATE, "another second of events")
    shares = [len(end.bodies) - n for end, n in zip(ends, before)]

    agent.wait_for_log("recovered", peer=ends[1].address)
    assert min(shares) > 0.3 * max(shares), shares


def test_all_hosts_down_and_up_again(far_end, leat):  # noqa: F811
    ends = [far_end("a"), far_end("b")]
    agent = leat(two_hosts("load-balance", ends, 2 * RATE, **{"backoff": "50ms", "max-backoff": "200ms"}))

    wait_until(lambda: sum(len(end.bodies) for end in ends) > RATE // 2, "events arrive")
    for end in ends:
        end.kill()
    agent.wait_for_log("delivery failed, backing off")
    for end in ends:
        end.start()

    assert_all_arrived(ends, 2 * RATE, 2 * BATCH)
    agent.wait_for_log("destination recovered")


def test_descriptors_and_connections_are_back_after_an_outage(far_end, leat):  # noqa: F811
    end = far_end("a")
    agent = leat(two_hosts("single", [end], 0, **{"backoff": "5ms", "max-backoff": "5ms"}))

    end.wait_for(100)
    before = agent.n_descriptors()
    end.kill()
    wait_until(lambda: agent.metric("leat_sink_connections_failed_total") > 100, "it has tried in vain")
    end.start()
    n_events = len(end.bodies)
    end.wait_for(n_events + 100)

    assert agent.n_descriptors() <= before


def group(ends, processor, options=None):
    """A Thrift sink for each end, in one group."""
    config = edge([ends[0].address], {"rate": RATE})
    sink = config["sinks"].pop("out")
    for name, end in zip("abcdefgh", ends):
        config["sinks"][name] = {**sink, "hosts": [end.address], "batch-size": BATCH, "request-timeout": "1s"}
    config["sink-groups"] = {"g": {"processor": processor, "sinks": list(config["sinks"]), "max-penalty": "200ms",
                                   **(options or {})}}
    return config


def test_a_sink_group_fails_over_and_back(far_end, leat):  # noqa: F811
    ends = [far_end("a"), far_end("b")]
    agent = leat(group(ends, "failover", {"priorities": {"a": 1, "b": 2}}))

    ends[1].wait_for(RATE // 4)
    assert ends[0].bodies == []
    ends[1].kill()
    ends[0].wait_for(RATE // 4)
    ends[1].start()
    wait_until(lambda: agent.metric("leat_sink_group_takeovers_total", component="g") == 2, "it has failed back")
    n_before = len(ends[0].bodies)
    n_events = len(ends[1].bodies)
    ends[1].wait_for(n_events + RATE // 4)

    assert len(ends[0].bodies) <= n_before + BATCH
    agent.wait_for_log("another sink of the group takes over", group="g", sink="b")
    agent.stop()
    seen = collections.Counter(body for end in ends for body in end.bodies)
    assert list(seen) and sorted(map(int, seen)) == list(range(len(seen)))


def test_a_frozen_member_does_not_stall_its_group(far_end, leat):  # noqa: F811
    ends = [far_end("a"), far_end("b"), far_end("c")]
    agent = leat(group(ends, "load-balance"))

    wait_until(lambda: all(len(end.bodies) > BATCH for end in ends), "each has its share")
    ends[0].freeze()
    n_before = len(ends[1].bodies) + len(ends[2].bodies)
    wait_until(lambda: len(ends[1].bodies) + len(ends[2].bodies) > n_before + 2 * RATE, "the others go on")
    times = sorted(ends[1].times + ends[2].times)
    ends[0].thaw()

    assert longest_gap(times) < 0.5
    assert agent.request("/healthz").status == 200
