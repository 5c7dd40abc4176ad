"""test_tiers_poison.py - an event that the next tier never takes: set aside, told of, and in nobody's way."""
import pytest

from flume_api import ThriftFlumeEvent, Status, flume_client
from leat import free_port, wait_until
from tiers import address, relay

GOOD = [f"good {n}" for n in range(500)]


def with_dead_letters(config, hosts):
    config["sinks"]["out"]["dead-letter"] = "dead"
    config["channels"]["dead"] = {"type": "memory"}
    config["sinks"]["undertaker"] = {"type": "thrift", "channel": "dead", "hosts": hosts, "backoff": "50ms"}
    return config


def send(agent, bodies):
    with flume_client(agent.port("apps")) as client:
        assert client.appendBatch([ThriftFlumeEvent({"app": "a"}, body.encode()) for body in bodies]) == Status.OK


def test_without_dead_letters_it_is_counted_and_told_and_the_channel_moves_on(far_end, leat):
    far = far_end()
    agent = leat(relay([far.address]))

    send(agent, [*GOOD[:200], "poison", *GOOD[200:]])
    far.wait_for(len(GOOD))
    wait_until(lambda: agent.metric("leat_sink_events_rejected_total") == 1, "it is rejected")

    assert sorted(far.bodies) == sorted(GOOD)
    agent.wait_for_log("event rejected", sink="out")
    wait_until(lambda: agent.metric("leat_channel_events") == 0, "the channel is empty")


@pytest.mark.parametrize("place", [0, 250, 500])
def test_with_dead_letters_it_goes_there_and_says_why(far_end, collector, leat, place):
    far, morgue = far_end(), collector()
    agent = leat(with_dead_letters(relay([far.address]), [address(morgue)]))

    send(agent, [*GOOD[:place], "poison", *GOOD[place:]])
    wait_until(lambda: len(morgue.records()) == 1, "it is among the dead letters")

    letter = morgue.records()[0]
    assert letter["body"] == "poison"
    assert letter["headers"]["leat.sink"] == "out" and letter["headers"]["app"] == "a"
    assert "FAILED" in letter["headers"]["leat.error"]
    far.wait_for(len(GOOD))
    assert sorted(far.bodies) == sorted(GOOD)
    wait_until(lambda: agent.metric("leat_sink_events_dead_lettered_total", component="out") == 1, "it is counted")


def test_an_event_that_fits_into_no_frame_is_rejected_at_once(collector, leat):
    end, morgue = collector(), collector()
    config = with_dead_letters(relay([address(end)]), [address(morgue)])
    config["sources"]["apps"]["max-frame"] = "32MiB"
    config["sinks"]["undertaker"] = {"type": "null", "channel": "dead"}
    agent = leat(config)

    send(agent, ["a", "b" * 17000000, "c"])
    wait_until(lambda: len(end.records()) == 2, "the others have arrived")

    assert [record["body"] for record in end.records()] == ["a", "c"]
    wait_until(lambda: agent.metric("leat_sink_events_dead_lettered_total", component="out") == 1, "it is counted")
    assert agent.log("delivery failed, backing off", sink="out") == []


def test_an_event_that_the_next_tier_hangs_up_on_is_found(collector, leat):
    end, morgue = collector(), collector()
    small = relay([address(end)])
    small["sources"]["apps"]["max-frame"] = "10000"
    middle = leat(small)
    agent = leat(with_dead_letters(relay([address(middle)], {"batch-size": 20}), [address(morgue)]))

    send(agent, [*GOOD[:50], "b" * 20000, *GOOD[50:]])
    wait_until(lambda: len(morgue.records()) == 1, "it is among the dead letters")

    assert len(morgue.records()[0]["body"]) == 20000
    wait_until(lambda: len(end.records()) == len(GOOD), "the others have arrived")


def test_a_next_tier_that_refuses_everything_gets_everything_when_it_is_well(far_end, collector, leat):
    morgue = collector()
    port = free_port()
    config = {**relay(["127.0.0.1:1"]), "channels": {"buffer": {"type": "memory", "capacity": 1, "put-timeout": "0s"}},
              "agent": {"http": "off", "shutdown-timeout": "1s"}}
    config["sources"]["apps"]["listen"] = f"127.0.0.1:{port}"
    full = leat(config)
    with flume_client(port) as client:
        assert client.append(ThriftFlumeEvent({}, b"the only one that fits")) == Status.OK
    agent = leat(with_dead_letters(relay([address(full)], {"backoff": "10ms", "max-backoff": "10ms"}), [address(morgue)]))

    send(agent, GOOD)
    wait_until(lambda: agent.metric("leat_thrift_sink_host_failures_total", component="out") > 100, "it was refused often")
    full.stop()
    far = far_end(port=port)

    far.wait_for(len(GOOD))
    assert sorted(far.bodies) == sorted(GOOD)
    assert morgue.records() == [] and agent.metric("leat_sink_events_rejected_total") == 0


def test_dead_letters_that_are_written_during_a_stop_are_drained_too(far_end, collector, leat):
    far, morgue = far_end(), collector()
    config = with_dead_letters(relay([far.address], {"backoff": "300ms", "max-backoff": "300ms"}), [address(morgue)])
    config["agent"]["shutdown-timeout"] = "50s"
    agent = leat(config)

    send(agent, [*GOOD[:10], "poison", *GOOD[10:]])
    agent.wait_for_log("delivery failed, backing off", sink="out")
    agent.stop()

    assert [record["body"] for record in morgue.records()] == ["poison"]
    assert agent.wait_for_log("stopped")["events_lost"] == 0
