"""tiers.py - configurations of agents that send to others, and what the stories about them count and measure."""
from leat import TIMEOUT, wait_until


def edge(hosts, sequence=None, sink=None, **agent):
    """Numbers into a Thrift sink."""
    return {
        "agent": {"http": "127.0.0.1:0", "shutdown-timeout": "5s", **agent},
        "sources": {"numbers": {"type": "sequence", "rate": 0, "channels": ["buffer"], **(sequence or {})}},
        "channels": {"buffer": {"type": "memory"}},
        "sinks": {"out": {"type": "thrift", "channel": "buffer", "hosts": hosts, "backoff": "50ms",
                          "max-backoff": "200ms", **(sink or {})}},
    }


def relay(hosts, sink=None):
    """A Thrift source into a Thrift sink."""
    config = edge(hosts, sink=sink)
    config["sources"] = {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"]}}
    return config


def address(agent):
    return f"127.0.0.1:{agent.port('apps')}"


def numbers(count):
    return [str(n) for n in range(count)]


def n_at(ends):
    return sum(len(end.records) for end in ends)


def wait_for_more(ends, n_events, timeout=TIMEOUT):
    """Until so many more than now are at the ends together."""
    n_before = n_at(ends)
    wait_until(lambda: n_at(ends) >= n_before + n_events, f"{n_events} more events have arrived", timeout)


def longest_gap(times, since=0.0):
    """Seconds between two arrivals, the second of them after `since`."""
    times = sorted(times)
    return max((later - earlier for earlier, later in zip(times, times[1:]) if later >= since), default=0.0)


def assert_whole(bodies):
    """Every number from 0 on is there. Returns how many came again."""
    seen = set(map(int, bodies))
    assert sorted(seen) == list(range(len(seen)))
    return len(bodies) - len(seen)


class Pulse:
    """A small edge of its own into a far end of its own: when it misses beats, the machine is so busy that it cannot be told what
    else was to blame for a pause."""

    def __init__(self, leat, end):
        self.end = end
        leat(edge([end.address], {"rate": 50, "batch-size": 1}, {"linger": "0s"}))

    def longest_gap(self, since):
        return longest_gap(self.end.times, since)

    def missed(self, since):
        return self.longest_gap(since) > 0.25
