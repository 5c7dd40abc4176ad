"""test_tiers_stop.py - an agent stops while one of those that it sends to hangs, and another works: nothing is lost."""
import pytest

from leat import BUSY
from tiers import edge, numbers

COUNT = 4000


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


STORIES = {"two hosts": two_hosts, "failover group": two_sinks("failover"), "load-balance group": two_sinks("load-balance")}


@pytest.mark.parametrize("story", STORIES)
def test_a_stop_drains_through_whatever_works_although_the_other_hangs(far_end, leat, story):
    ends = [far_end("a"), far_end("b")]
    config = STORIES[story](ends)
    config["sources"]["numbers"].update({"rate": 2 * COUNT, "count": COUNT})
    config["agent"]["shutdown-timeout"] = "3s"
    for sink in config["sinks"].values():
        sink.update({"batch-size": 50, "request-timeout": "1m"})
    agent = leat(config)

    ends[0].wait_for(100)
    ends[0].freeze()
    agent.wait_for_log("source has nothing more to send")
    agent.stop(timeout=3 + BUSY)

    assert agent.wait_for_log("stopped")["events_lost"] == 0
    assert set(ends[0].bodies) | set(ends[1].bodies) == set(numbers(COUNT))
