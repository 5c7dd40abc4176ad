"""test_lifecycle.py - an agent starts, stops, and says what became of its events."""
import os
import random
import resource
import signal
import socket
import time

import pytest

from leat import BUSY, TIMEOUT, free_port, held_until_it_begins, needs, signalled_before_it_begins, wait_until

SOAK = bool(os.environ.get("LEAT_SOAK"))


def pipeline(source=None, sink=None, channel=None, **agent):
    """One sequence source, one memory channel, one sink; the arguments add options."""
    return {
        "agent": {"name": "story", "http": "127.0.0.1:0", **agent},
        "sources": {"numbers": {"type": "sequence", "channels": ["buffer"], **(source or {})}},
        "channels": {"buffer": {"type": "memory", **(channel or {})}},
        "sinks": {"out": {"type": "null", "channel": "buffer", **(sink or {})}},
    }


# After the first event the sink gathers for a minute: what it has at the stop is what the drain delivers.
GATHERING_LOGGER = {"type": "logger", "linger": "60s", "batch-size": 100000}


def test_a_clean_stop_delivers_what_the_memory_channel_holds(leat):
    agent = leat(pipeline(source={"rate": 0, "count": 500, "batch-size": 10}, sink=GATHERING_LOGGER))
    agent.wait_for_log("source has nothing more to send")

    agent.stop()

    assert [int(entry["body"]) for entry in agent.log("event")] == list(range(500))
    assert agent.wait_for_log("stopped")["events_lost"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_under_load_ends_the_agent_cleanly_with_one_line_at_each_end(leat, number):
    agent = leat(pipeline(source={"rate": 0, "batch-size": 100, "size": 300}))
    agent.wait_for_log("started")

    agent.signal(number)

    assert agent.wait() == 0
    assert len(agent.log("stopping")) == 1
    [stopped] = agent.log("stopped")
    assert stopped["events_left"] == 0 and stopped["events_lost"] == 0 and stopped["ms"] < 5000


def test_a_destination_that_refuses_costs_shutdown_timeout_and_the_loss_is_counted(leat):
    config = pipeline(source={"rate": 0, "count": 1000}, sink={"refuse": True}, **{"shutdown-timeout": "2s"})
    agent = leat(config)
    agent.wait_for_log("source has nothing more to send")

    begin = time.monotonic()
    agent.stop()

    assert time.monotonic() - begin < 2 + BUSY
    [lost] = agent.log("events lost, the channel could not be drained in time")
    assert (lost["channel"], lost["events"], lost["level"]) == ("buffer", 1000, "error")
    assert agent.log("stopped")[0]["events_lost"] == 1000


def test_a_full_channel_does_not_hold_up_the_stop(leat):
    config = pipeline(source={"rate": 0}, channel={"capacity": 100, "put-timeout": "60s"}, sink={"refuse": True},
                      **{"shutdown-timeout": "1s"})
    agent = leat(config)
    agent.wait_for_log("delivery failed, backing off")

    begin = time.monotonic()
    agent.stop()

    assert time.monotonic() - begin < 1 + BUSY
    assert agent.log("stopped")[0]["events_lost"] == 100


def test_asked_a_second_time_the_agent_ends_at_once(leat):
    agent = leat(pipeline(source={"count": 10}, sink={"refuse": True}, **{"shutdown-timeout": "60s"}))
    agent.wait_for_log("delivery failed, backing off")
    agent.signal(signal.SIGSTOP)
    agent.signal(signal.SIGTERM)
    agent.signal(signal.SIGINT)  # it sees both at once: still the first request
    agent.signal(signal.SIGCONT)
    agent.wait_for_log("stopping")
    time.sleep(0.5)
    assert agent.is_running

    begin = time.monotonic()
    agent.signal()

    assert agent.wait() == 1
    assert time.monotonic() - begin < 1 + BUSY
    assert agent.log("ending at once")[0]["events_lost"] > 0


def test_a_hangup_is_logged_and_ignored(leat):
    agent = leat(pipeline())

    agent.signal(signal.SIGHUP)

    agent.wait_for_log("SIGHUP ignored, this version does not reload; restart to change the configuration")
    assert agent.request("/healthz").status == 200


def test_failing_is_logged_once_however_often_it_is_tried(leat):
    agent = leat(pipeline(source={"count": 3}, sink={"refuse": True, "backoff": "10ms", "max-backoff": "10ms"},
                          **{"shutdown-timeout": "1s"}))
    wait_until(lambda: len(agent.log("delivery failed again")) > 3, "it is tried again and again")

    agent.stop()

    assert len(agent.log("delivery failed, backing off")) == 1


@pytest.mark.parametrize("abstract", [False, True])
def test_the_service_manager_is_told_of_start_and_stop(leat, tmp_path, abstract):
    path = f"leat-story-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + path if abstract else path)
        manager.settimeout(TIMEOUT)
        agent = leat(pipeline(), env={"NOTIFY_SOCKET": ("@" if abstract else "") + path})
        assert manager.recv(100) == b"READY=1"

        agent.stop()

        assert manager.recv(100) == b"STOPPING=1"


METRICS_WAIT = "metrics have to wait until their address is free; free it, or write another one for agent.http"


@needs("libsoup")
def test_an_http_port_in_use_keeps_metrics_waiting_but_not_the_agent(leat):
    port = free_port()
    address = f"127.0.0.1:{port}"
    with socket.create_server(("127.0.0.1", port)):
        agent = leat(pipeline(sink={"type": "logger"}, http=address))
        agent.wait_for_log("event")

        [warning] = agent.log(METRICS_WAIT)
        assert warning["level"] == "warning" and "Address already in use" in warning["error"]
        assert warning["error"].startswith(f"agent.http: cannot listen on {address}: ")
    agent.wait_for_log("listening", component="http", address=address)
    assert agent.request("/healthz").status == 200
    assert len(agent.log(METRICS_WAIT)) == 1


@needs("libsoup")
def test_an_http_port_that_a_past_connection_holds_does_not_refuse_the_start(leat):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % client.getsockname()[1]
        client.connect(server.getsockname())
        client.close()  # first: this end waits for a minute, the port with it
        server.accept()[0].close()

        agent = leat(pipeline(sink={"type": "logger"}, http=address))

    agent.wait_for_log("event")
    assert agent.log(METRICS_WAIT)


@needs("libsoup")
def test_an_http_address_of_another_machine_refuses_the_start_and_is_named(leat):
    agent = leat(pipeline(http="192.0.2.1:0"), start=False).launch()

    assert agent.wait() == 1
    [refused] = agent.log("the agent cannot start")
    assert refused["level"] == "error" and refused["error"].startswith("agent.http: cannot listen on 192.0.2.1:0: ")
    assert not agent.log("started")


def test_a_part_that_cannot_open_refuses_the_start_and_is_named(leat):
    config = pipeline(sink={"type": "file", "directory": "/dev/null/leat"})
    agent = leat(config, start=False).launch()

    assert agent.wait() == 1
    [refused] = agent.log("the agent cannot start")
    assert refused["error"].startswith("sink 'out': ")


def test_the_descriptor_limit_is_raised_to_what_is_allowed(leat):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    agent = leat(pipeline())

    assert resource.prlimit(agent.process.pid, resource.RLIMIT_NOFILE) == (hard, hard)


def test_a_bad_file_is_refused_with_all_problems_and_nothing_started(leat):
    config = pipeline(source={"rate": "often"}, sink={"refuse": "perhaps"})
    agent = leat(config, start=False).launch()

    assert agent.wait() == 1
    assert "sources.numbers.rate" in agent.log_text() and "sinks.out.refuse" in agent.log_text()
    assert not agent.log()


def test_threads_carry_the_names_of_their_components(leat):
    agent = leat(pipeline())

    def are_named(names):
        return {"numbers", "out"} <= names and "lifecycle" not in names

    wait_until(lambda: are_named(set(agent.thread_names())), "each thread has named itself")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_came_before_the_program_began_is_a_clean_stop(leat, number):
    agent = leat(pipeline(), start=False, prefix=signalled_before_it_begins(number))
    with held_until_it_begins(number):
        agent.launch()

    assert agent.wait() == 0
    assert agent.log_text() == "leat run: told to stop before anything was started"


def test_starts_and_stops_at_random_moments_all_end_cleanly(leat):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    moments = random.Random(seed)
    for _ in range(1000 if SOAK else 50):
        agent = leat(pipeline(source={"rate": 0, "batch-size": 10}), start=False)
        with held_until_it_begins(signal.SIGTERM):
            agent.launch()
        time.sleep(moments.uniform(0, 0.06))
        agent.signal()
        assert agent.wait() == 0, agent.log_text()
        assert sum(entry["events_lost"] for entry in agent.log("stopped")) == 0
