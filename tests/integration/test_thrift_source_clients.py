"""test_thrift_source_clients.py - who connects: strangers, crowds, and those that come when nothing is left for them."""
import http.client
import pathlib
import resource
import select
import threading
import time

import pytest

import wire
from flume_api import Status, ThriftFlumeEvent, flume_client
from leat import BUSY, needs, wait_until
from thrift_agent import LOGGER, assert_grew_at_most, config, incidents, open_connections
from wire import Raw

# ---- strangers ----

STRANGERS = {
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), "TLS"),
    "HTTP GET": (b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP"),
    "HTTP POST": (b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "HTTP"),
    "Avro": (b"\0\0\0\1\0\0\0\2\0\0\0\x50" + bytes(80), "Avro"),
    "unframed compact": (wire.append("compact", b"x"), "TFramedTransport"),
    "unframed binary": (wire.append("binary", b"x"), "TFramedTransport"),
    "unframed old binary": (wire.append("old-binary", b"x"), "TFramedTransport"),
    "unframed old binary batch": (wire.append_batch("old-binary", [b"x"]), "TFramedTransport"),
    "text": (b"hello, is this syslog?\n", "text"),
    "JSON protocol": (wire.frame(b'[1,"append",1,1,{}]'), "JSON"),
    "SASL": (b"\1\0\0\0\6GSSAPI", "SASL"),
}


@pytest.mark.parametrize("who", STRANGERS)
def test_a_stranger_is_closed_and_one_line_tells_the_operator_what_to_change(leat, who):
    agent = leat(config())
    data, word = STRANGERS[who]

    with Raw(agent.port("apps")) as stranger, Raw(agent.port("apps")) as client:
        stranger.send(data)
        assert stranger.is_closed()
        assert client.is_usable()

    entry = agent.wait_for_log("client speaks something else")
    assert word in entry["detail"] and entry["peer"].startswith("127.0.0.1:")
    assert incidents(agent, "not-framed-thrift") == 1


@pytest.mark.parametrize("wanted, spoken", [("compact", "binary"), ("compact", "old-binary"), ("binary", "compact")])
def test_the_protocol_that_is_not_configured_is_closed_with_the_remedy(leat, wanted, spoken):
    agent = leat(config(source={"protocol": wanted}))

    with Raw(agent.port("apps"), spoken) as stranger, Raw(agent.port("apps"), wanted) as client:
        stranger.send_frame(wire.append(spoken, b"x"))
        assert stranger.is_closed()
        assert client.is_usable()

    assert "protocol: auto" in agent.wait_for_log("client speaks something else")["detail"]
    assert incidents(agent, "wrong-protocol") == 1


def test_a_flood_of_strangers_costs_one_line_a_second(leat):
    agent = leat(config())

    begin = time.monotonic()
    for _ in range(300):
        with Raw(agent.port("apps")) as stranger:
            stranger.send(b"GET / HTTP/1.1\r\n\r\n")
            assert stranger.is_closed()
    taken = time.monotonic() - begin

    assert len(agent.log("client speaks something else")) <= 2 + taken
    assert incidents(agent, "not-framed-thrift") == 300


def test_strangers_of_different_kinds_have_a_line_each(leat):
    agent = leat(config(source={"max-frame": 1000}))

    for data in (b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\0", b"\0\1\0\0\x82"):
        with Raw(agent.port("apps")) as stranger:
            stranger.send(data)
            assert stranger.is_closed()

    large = agent.wait_for_log("request too large")
    http, empty = agent.log("client speaks something else")
    assert "HTTP" in http["detail"] and "a frame of 0 bytes" in empty["detail"]
    assert "a frame of 64 KiB is larger than max-frame (1000 B)" in large["detail"]
    assert not any("left_out" in line for line in (http, empty, large))


# ---- crowds ----

def test_connections_over_the_limit_are_closed_and_room_is_used_again(leat):
    agent = leat(config(source={"max-connections": 3}))

    clients = [Raw(agent.port("apps")) for _ in range(3)]
    assert all(client.is_usable() for client in clients)
    with Raw(agent.port("apps")) as one_too_many:
        assert one_too_many.is_closed()
    assert incidents(agent, "connection-refused") == 1
    clients.pop().close()
    wait_until(lambda: open_connections(agent) == 2, "there is room")
    with Raw(agent.port("apps")) as another:
        assert another.is_usable()

    assert "max-connections" in agent.wait_for_log("out of resources")["detail"]
    for client in clients:
        client.close()
    wait_until(lambda: open_connections(agent) == 0, "all are gone")


def test_idle_connections_cost_little_memory_and_no_time(leat):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    n_idle = min(5000, (limit[1] - 200) // 2)
    agent = leat(config())
    with Raw(agent.port("apps")) as client:
        assert client.is_usable()
    before = agent.status_kb("VmRSS")

    idle = [Raw(agent.port("apps")) for _ in range(n_idle)]
    wait_until(lambda: open_connections(agent) == n_idle, "all are there")
    for client in idle:  # each has been busy once
        client.send_frame(wire.append("compact", b"x" * 300))
    assert all(client.read_answer().status == wire.OK for client in idle)
    each = (agent.status_kb("VmRSS") - before) / n_idle
    print(f"{n_idle} idle connections cost {each:.2f} kB each")
    assert each <= 4

    wait_until(lambda: agent.metric("leat_sink_events_delivered_total") == n_idle + 1, "nothing is left to be done")
    assert agent.cpu_seconds(during=1) < 0.02
    for client in idle:
        client.close()
    wait_until(lambda: open_connections(agent) == 0, "all are gone")
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def time_on_processor(agent, name):
    """Of each thread of this name, in nanoseconds."""
    times = {}
    for task in pathlib.Path(f"/proc/{agent.process.pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            times[task.name] = int((task / "schedstat").read_text().split()[0])
    return times


def test_connections_are_dealt_out_to_threads_that_bear_the_name_of_the_source(leat):
    agent = leat(config(source={"threads": 3}))
    clients = [Raw(agent.port("apps")) for _ in range(3)]
    wait_until(lambda: open_connections(agent) == 3, "all are there")
    before = time_on_processor(agent, "apps")

    for _ in range(100):
        assert all(client.is_usable() for client in clients)

    after = time_on_processor(agent, "apps")
    worked = [after[thread] - before[thread] for thread in before]
    assert len(worked) == 3
    assert min(worked) > sum(worked) / 3 / 5, worked  # each has a client of its own
    for client in clients:
        client.close()


def test_many_short_sessions_leave_nothing_behind(leat):
    agent = leat(config())
    with flume_client(agent.port("apps")) as client:
        client.append(ThriftFlumeEvent({}, b"x"))
    descriptors, memory = agent.n_descriptors(), agent.status_kb("RssAnon")

    for _ in range(1000):
        with Raw(agent.port("apps")) as client:
            assert client.is_usable()

    wait_until(lambda: open_connections(agent) == 0, "all are gone")
    assert agent.n_descriptors() <= descriptors + 2
    assert_grew_at_most(agent, 1024, memory)


# ---- nothing left ----

def limited_to_descriptors(n):
    """What to put before the command so that it has this many, and no way to get more."""
    return ["sh", "-c", f'ulimit -n {n}; exec "$0" "$@"']


def test_out_of_descriptors_it_pauses_says_so_once_and_recovers(leat):
    agent = leat(config(source={"threads": 1}), prefix=limited_to_descriptors(40))
    port = agent.port("apps")
    page = http.client.HTTPConnection(*agent.address("http"), timeout=wire.TIMEOUT)
    before = agent.n_descriptors()
    page.connect()
    wait_until(lambda: agent.n_descriptors() > before, "the page is accepted, while it still can")

    clients = [Raw(port) for _ in range(45)]
    agent.wait_for_log("out of resources")
    served = those_served(clients, more_than=10)
    assert len(served) < 45
    assert agent.cpu_seconds(during=0.5) < 0.04, "it spins"
    assert sum("no connection is accepted" in entry["detail"] for entry in agent.log("out of resources")) == 1

    page.request("GET", "/healthz")
    assert page.getresponse().status == 503
    for client in served:
        client.close()
    rest = [client for client in clients if client not in served]
    assert all(client.read_answer().status == wire.OK for client in rest)
    wait_until(lambda: agent.request("/healthz").status == 200, "the source is well again")
    for client in rest:
        client.close()


def those_served(clients, more_than):
    """Sends a request on each, and waits until more of them than that have an answer, and then for a while no others."""
    for client in clients:
        client.send_frame(wire.append("compact", b"x"))
    served, waiting = [], {client.socket: client for client in clients}
    while True:
        ready, _, _ = select.select(list(waiting), [], [], 0.3 if len(served) > more_than else wire.TIMEOUT)
        if not ready:
            assert len(served) > more_than
            return served
        for readable in ready:
            client = waiting.pop(readable)
            assert client.read_answer().status == wire.OK
            served.append(client)


def test_a_limit_of_descriptors_below_max_connections_is_a_warning_with_the_remedy(leat):
    agent = leat(config(source={"max-connections": 5000}), prefix=limited_to_descriptors(4000))

    entry = agent.wait_for_log("a limit of the system is too low")

    assert entry["level"] == "warning"
    assert "4000" in entry["detail"] and "LimitNOFILE" in entry["detail"] and "max-connections" in entry["detail"]


# ---- stop ----

def test_every_event_that_was_answered_ok_arrives_although_the_agent_stops_under_load(leat):
    agent = leat(config(sink=LOGGER, agent={"shutdown-timeout": "10s"}), log_level="info")
    port = agent.port("apps")
    accepted = []

    def send(number):
        with flume_client(port, "compact" if number % 2 else "binary") as client:
            try:
                for n in range(10**6):
                    batch = [ThriftFlumeEvent({}, b"%d.%d.%d" % (number, n, i)) for i in range(5)]
                    if client.appendBatch(batch) != Status.OK:
                        return
                    accepted.extend(event.body.decode() for event in batch)
            except Exception:  # the end of the connection, however Thrift calls it
                return

    senders = [threading.Thread(target=send, args=[number]) for number in range(4)]
    for sender in senders:
        sender.start()
    wait_until(lambda: len(accepted) > 1000, "there is load")
    agent.stop()
    for sender in senders:
        sender.join()

    arrived = {entry["body"] for entry in agent.log("event")}
    assert set(accepted) <= arrived
    assert agent.log("stopped")[0]["events_lost"] == 0
    assert agent.log("stopped")[0]["ms"] < (2 + BUSY) * 1000


def test_requests_that_wait_for_room_at_the_stop_are_answered_failed(leat):
    agent = leat(config(channel={"capacity": 1, "put-timeout": "60s"}, sink={"refuse": True},
                        agent={"shutdown-timeout": "1s"}))

    with Raw(agent.port("apps")) as client:
        assert client.call(wire.append("compact", b"fits")).status == wire.OK
        for seqid in range(5):
            client.send_frame(wire.append("compact", b"waits", seqid=seqid))
        agent.signal()
        answers = [client.read_answer() for _ in range(5)]
        assert client.is_closed()

    assert [(answer.seqid, answer.status) for answer in answers] == [(n, wire.FAILED) for n in range(5)]
    assert agent.wait() == 0
    assert agent.log("stopped")[0]["ms"] < (1 + BUSY) * 1000


def test_a_frame_half_received_does_not_hold_up_the_stop(leat):
    agent = leat(config(agent={"shutdown-timeout": "1m"}))

    with Raw(agent.port("apps")) as half, Raw(agent.port("apps")) as idle:
        half.send(wire.frame(wire.append("compact", bytes(1000)))[:500])
        assert idle.is_usable()
        agent.stop()
        assert half.is_closed() and idle.is_closed()

    assert agent.log("stopped")[0]["ms"] < BUSY * 1000


@needs("libsoup")
def test_starting_and_stopping_at_any_moment_is_clean(leat):
    for delay_ms in range(0, 30, 3):
        agent = leat(config(), start=False)
        agent.launch()
        agent.wait_for_log("listening", component="http")  # the first thing it says
        time.sleep(delay_ms / 1000)
        agent.stop()
