"""test_shutdown.py - clients are sending when the agent is told to stop: what was answered OK arrives, the rest is refused."""
import contextlib
import socket
import threading
import time

from thrift.Thrift import TException

from flume_api import Status, ThriftFlumeEvent, flume_client
from leat import BUSY, TIMEOUT, needs, wait_until


def pipeline(sink, channel=None, **agent):
    return {
        "agent": {"name": "story", "http": "127.0.0.1:0", **agent},
        "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory", **(channel or {})}},
        "sinks": {"out": {"channel": "buffer", **sink}},
    }


class Sender(threading.Thread):
    """Sends numbered events until it is refused or cut off, and remembers those that were answered OK."""

    def __init__(self, port, name):
        super().__init__(daemon=True)
        self.port, self.prefix = port, name
        self.acknowledged = []
        self.last_answer = None
        self.start()

    def run(self):
        with contextlib.suppress(TException, OSError), flume_client(self.port) as client:
            while self.last_answer in (None, Status.OK):
                bodies = [f"{self.prefix}-{len(self.acknowledged) + n}" for n in range(5)]
                self.last_answer = client.appendBatch([ThriftFlumeEvent({}, body.encode()) for body in bodies])
                if self.last_answer == Status.OK:
                    self.acknowledged += bodies


def test_what_was_answered_ok_before_a_stop_is_delivered(leat):
    agent = leat(pipeline({"type": "logger"}))
    senders = [Sender(agent.port("apps"), f"client{n}") for n in range(4)]
    wait_until(lambda: all(len(sender.acknowledged) >= 50 for sender in senders), "all clients are under way")

    agent.stop()

    for sender in senders:
        sender.join(TIMEOUT)
        assert not sender.is_alive()
    arrived = {entry["body"] for entry in agent.log("event")}
    assert {body for sender in senders for body in sender.acknowledged} <= arrived
    assert agent.log("stopped")[0]["events_lost"] == 0


def test_a_put_that_waits_for_room_is_refused_at_half_the_time_to_stop(leat):
    agent = leat(pipeline({"type": "null", "refuse": True}, {"capacity": 5, "put-timeout": "60s"},
                          **{"shutdown-timeout": "2s"}))
    sender = Sender(agent.port("apps"), "client")  # its second batch does not fit
    wait_until(lambda: agent.metric("leat_source_events_received_total") == 10, "the second batch waits")

    begin = time.monotonic()
    agent.stop()

    assert time.monotonic() - begin < 2 + BUSY
    sender.join(TIMEOUT)
    assert sender.last_answer == Status.FAILED
    assert agent.log("stopped")[0]["events_lost"] == 5


@needs("libsoup")
def test_a_source_whose_channel_is_full_keeps_no_other_source_open(leat):
    config = pipeline({"type": "null", "refuse": True}, {"capacity": 5, "put-timeout": "60s"},
                      **{"shutdown-timeout": "60s"})
    config["sources"]["later"] = {**config["sources"]["apps"], "channels": ["free"]}
    config["channels"]["free"] = {"type": "memory"}
    config["sinks"]["away"] = {"type": "null", "channel": "free"}
    agent = leat(config)
    waiting = Sender(agent.port("apps"), "client")  # its second batch does not fit
    wait_until(lambda: agent.metric("leat_source_events_received_total") == 10, "the second batch waits")

    agent.signal()

    def is_closed():
        try:
            socket.create_connection(agent.address("later"), timeout=5).close()
        except OSError:
            return True
        return False

    wait_until(is_closed, "the later source accepts no more")
    assert waiting.last_answer == Status.OK and agent.is_running
    agent.kill()


def test_an_address_in_use_refuses_the_start_and_the_other_agent_does_not_notice(leat):
    first = leat(pipeline({"type": "null"}))
    config = pipeline({"type": "null"})
    config["sources"]["apps"]["listen"] = "127.0.0.1:%d" % first.port("apps")
    second = leat(config, start=False).launch()

    assert second.wait() == 1
    assert second.log("the agent cannot start")[0]["error"].startswith("source 'apps': ")
    with flume_client(first.port("apps")) as client:
        assert client.append(ThriftFlumeEvent({}, b"still here")) == Status.OK
