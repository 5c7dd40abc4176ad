"""test_spillable_channel.py - a real agent with a spillable channel is stopped, and killed: what is still there, in which order."""
from leat import wait_until

MEMORY = 1000
COUNT = 20000


def spooling(leat, folder, sink, count):
    return leat({
        "agent": {"http": "127.0.0.1:0"},
        "sources": {"numbers": {"type": "sequence", "channels": ["buffer"], "count": count, "rate": 0, "batch-size": 50}},
        "channels": {"buffer": {"type": "spillable", "directory": str(folder), "memory-capacity": MEMORY,
                                "segment-size": "64KiB", "reserve": "0B"}},
        "sinks": {"out": {**sink, "channel": "buffer"}},
    })


def backlog(leat, folder):
    """An agent whose collector is not there, with all events in its channel."""
    agent = spooling(leat, folder, {"type": "thrift", "hosts": ["127.0.0.1:1"]}, COUNT)
    agent.wait_for_log("source has nothing more to send")
    return agent


def delivered(leat, folder, out):
    """The numbers that come out of the channel in the next life."""
    agent = spooling(leat, folder, {"type": "file", "directory": str(out), "format": "text"}, 1)
    agent.wait_for_log("source has nothing more to send")
    wait_until(lambda: agent.metric("leat_channel_events", component="buffer") == 0, "everything is delivered")
    agent.stop()
    lines = [line for path in sorted(out.iterdir()) for line in path.read_text().splitlines()]
    return [int(line) for line in lines[:-1]]  # but for the one of this life


def test_a_clean_stop_loses_nothing(leat, tmp_path):
    backlog(leat, tmp_path / "spool").stop()

    assert delivered(leat, tmp_path / "spool", tmp_path / "out") == list(range(COUNT))


def test_a_kill_loses_what_was_in_memory_and_no_more(leat, tmp_path):
    agent = backlog(leat, tmp_path / "spool")
    in_memory = agent.metric("leat_file_channel_memory_events", component="buffer")
    agent.kill()

    numbers = delivered(leat, tmp_path / "spool", tmp_path / "out")

    assert 0 < in_memory <= MEMORY
    assert len(numbers) >= COUNT - in_memory
    assert numbers == list(range(len(numbers)))
