"""test_tiers_stop.py - an agent stops while one of those that it sends to hangs, and another works: nothing is lost."""
import pytest

from leat import BUSY, wait_until
from tiers import assert_whole, edge


def two_hosts(ends):
    return edge([end.address for end in ends], sink={"client": "load-balance", "in-flight": 2})


def two_sinks(processor):
    def config(ends):
        whole = edge([ends[0].address])
        sink = whole["sinks"].pop("out")
        whole["sinks"] = {name: {**sink, "hosts": [end.address]} for name, end in zip("ab", ends)}
        whole["sink-groups"] = {"g": {"processor": processor, "sinks": ["a", "b"]}}
        return whole
    return config


def n_accepted(agent):
    return agent.metric("leat_source_events_accepted_total")


STORIES = {"two hosts": two_hosts, "failover group": two_sinks("failover"), "load-balance group": two_sinks("load-balance")}


@pytest.mark.parametrize("story", STORIES)
def test_a_stop_drains_through_whatever_works_although_the_other_hangs(far_end, leat, story):
    ends = [far_end("a"), far_end("b")]
    config = STORIES[story](ends)
    config["sources"]["numbers"].update({"rate": 4000, "count": 0})
    config["agent"]["shutdown-timeout"] = "5s"
    for sink in config["sinks"].values():
        sink.update({"batch-size": 50, "request-timeout": "1m"})
    agent = leat(config)

    ends[0].wait_for(100)
    ends[0].freeze()
    n_before = n_accepted(agent)
    wait_until(lambda: n_accepted(agent) > n_before + 1000, "more events are to be sent")
    n_at_least = n_accepted(agent)
    agent.stop(timeout=5 + BUSY)

    assert agent.wait_for_log("stopped")["events_lost"] == 0
    assert_whole(ends[0].bodies + ends[1].bodies)
    assert len(set(ends[0].bodies + ends[1].bodies)) >= n_at_least
