"""test_sequence.py - the sequence source: numbers without a gap, at their pace, whatever the channel says."""
import time

from leat import BUSY, wait_until


def bodies_of(leat, source, channel=None, sink=None):
    agent = leat({
        "agent": {"http": "127.0.0.1:0"},
        "sources": {"numbers": {"type": "sequence", "channels": ["buffer"], **source}},
        "channels": {"buffer": {"type": "memory", **(channel or {})}},
        "sinks": {"show": {"type": "logger", "channel": "buffer", **(sink or {})}},
    })
    agent.wait_for_log("source has nothing more to send")
    agent.stop()
    return [entry["body"] for entry in agent.log("event")]


def test_numbers_come_in_order_and_end_at_count(leat):
    bodies = bodies_of(leat, {"rate": 0, "count": 105, "batch-size": 10})

    assert bodies == [str(n) for n in range(105)]


def test_a_refused_batch_is_kept_and_tried_again(leat):
    bodies = bodies_of(leat, {"rate": 0, "count": 300, "batch-size": 10},
                       channel={"capacity": 10, "put-timeout": "0s"}, sink={"batch-size": 3})

    assert bodies == [str(n) for n in range(300)]


def test_size_fills_bodies_with_dots(leat):
    assert bodies_of(leat, {"rate": 0, "count": 2, "size": 4}) == ["0...", "1..."]


def test_the_rate_is_kept(leat):
    begin = time.monotonic()
    bodies = bodies_of(leat, {"rate": 100, "count": 51})

    assert len(bodies) == 51
    assert 0.5 <= time.monotonic() - begin < 0.5 + 2 * BUSY  # it starts and stops, too


def test_a_source_that_waits_costs_no_time(leat):
    agent = leat({
        "agent": {"http": "127.0.0.1:0"},
        "sources": {"numbers": {"type": "sequence", "rate": 1, "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory"}},
        "sinks": {"nothing": {"type": "null", "channel": "buffer"}},
    })
    wait_until(lambda: agent.metric("leat_sink_events_delivered_total") >= 1, "the first event has arrived")

    assert agent.cpu_seconds(during=0.5) < 0.05
