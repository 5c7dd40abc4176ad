"""test_registry_http.py - nsqlookupd's HTTP: routes, errors, filters, and the look-up that waits."""
import concurrent.futures
import contextlib
import http.client
import json
import socket
import time

import pytest

from leat import BUSY, TIMEOUT, needs, wait_until
from registry import has_address_sanitizer, joined

pytestmark = needs("libsoup")

JSON = "application/json; charset=utf-8"


ERRORS = [
    ("GET", "/lookup", 400, "MISSING_ARG_TOPIC"),
    ("GET", "/lookup?topic=t", 404, "TOPIC_NOT_FOUND"),
    ("GET", "/lookup?topic=", 404, "TOPIC_NOT_FOUND"),
    ("GET", "/lookup?topic=*", 404, "TOPIC_NOT_FOUND"),
    ("GET", "/lookup?topic=a;b", 400, "INVALID_REQUEST"),
    ("GET", "/channels", 400, "MISSING_ARG_TOPIC"),
    ("POST", "/topic/create", 400, "MISSING_ARG_TOPIC"),
    ("POST", "/topic/create?topic=", 400, "INVALID_ARG_TOPIC"),
    ("POST", "/topic/create?topic=a$b", 400, "INVALID_ARG_TOPIC"),
    ("POST", "/topic/delete", 400, "MISSING_ARG_TOPIC"),
    ("POST", "/topic/delete?topic=*", 400, "INVALID_ARG_TOPIC"),
    ("POST", "/topic/tombstone", 400, "MISSING_ARG_TOPIC"),
    ("POST", "/topic/tombstone?topic=t", 400, "MISSING_ARG_NODE"),
    ("POST", "/topic/tombstone?topic=*&node=a:1", 400, "INVALID_ARG_TOPIC"),
    ("POST", "/channel/create?channel=c", 400, "MISSING_ARG_TOPIC"),
    ("POST", "/channel/create?topic=$", 400, "INVALID_ARG_TOPIC"),
    ("POST", "/channel/create?topic=t", 400, "MISSING_ARG_CHANNEL"),
    ("POST", "/channel/create?topic=t&channel=$", 400, "INVALID_ARG_CHANNEL"),
    ("POST", "/channel/delete", 400, "MISSING_ARG_TOPIC"),
    ("POST", "/channel/delete?topic=t&channel=c", 404, "CHANNEL_NOT_FOUND"),
    ("GET", "/nowhere", 404, "NOT_FOUND"),
    ("GET", "/debug/pprof/heap", 404, "NOT_FOUND"),
    ("POST", "/lookup", 405, "METHOD_NOT_ALLOWED"),
    ("GET", "/topic/create?topic=t", 405, "METHOD_NOT_ALLOWED"),
    ("GET", "/lookup?topic=t&wait=x&index=1", 400, "INVALID_ARG_WAIT"),
    ("GET", "/lookup?topic=t&wait=1s&index=x", 400, "INVALID_ARG_INDEX"),
]


def test_errors(registry):
    made = registry()
    for method, path, status, message in ERRORS:
        reply = made.ask(path, method)

        assert (path, reply.status, reply.text) == (path, status, '{"message":"%s"}' % message)
        assert reply.headers["X-NSQ-Content-Type"] == "nsq; version=1.0"
        assert reply.headers["Content-Type"] == JSON


def test_methods_and_paths(registry):
    made = registry()

    assert made.ask("/ping").text == "OK"
    assert made.ask("/ping").headers["Content-Type"] == "text/plain; charset=utf-8"
    assert "X-NSQ-Content-Type" not in made.ask("/ping").headers
    assert made.ask("/info").text == '{"version":"1.3.0"}'
    assert made.ask("/lookup", "HEAD").status == 405
    assert made.ask("/lookup", "PUT").headers["Allow"] == "GET, OPTIONS"
    assert made.ask("/topic/create", "GET").headers["Allow"] == "OPTIONS, POST"
    options = made.ask("/lookup", "OPTIONS")
    assert (options.status, options.text, options.headers["Allow"]) == (200, "", "GET, OPTIONS")
    created = made.post("/topic/create", topic="t")
    assert (created.status, created.text, created.headers["Content-Length"]) == (200, "", "0")
    assert "Content-Type" not in created.headers


def raw(made, text):
    with socket.create_connection(made.address("nsqlookupd-http"), timeout=TIMEOUT) as client:
        client.sendall(text.encode())
        data = b""
        while more := client.recv(4096):
            data += more
    return data.decode()


def test_a_path_that_is_nearly_right_is_redirected(registry):
    made = registry()

    assert "301 Moved Permanently" in raw(made, "GET /Topics/ HTTP/1.0\r\n\r\n")
    assert "Location: /lookup?topic=t\r\n" in raw(made, "GET //lookup?topic=t HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert "307 Temporary Redirect" in raw(made, "POST /topic/create/?topic=t HTTP/1.0\r\nContent-Length: 0\r\n\r\n")
    assert made.json("/topics") == {"topics": []}


def test_topics_and_channels_by_hand(registry):
    made = registry()
    made.post("/channel/create", topic="t", channel="c")
    made.post("/topic/create", topic="u#ephemeral")

    assert sorted(made.json("/topics")["topics"]) == ["t", "u#ephemeral"]
    assert made.json("/channels", topic="t") == {"channels": ["c"]}
    assert made.json("/channels", topic="nowhere") == {"channels": []}
    assert made.json("/lookup", topic="t") == {"channels": ["c"], "producers": []}
    assert made.post("/channel/delete", topic="t", channel="c").status == 200
    assert made.post("/topic/delete", topic="u#ephemeral").status == 200
    assert made.post("/topic/delete", topic="nowhere").status == 200
    assert made.json("/channels", topic="t") == {"channels": []}
    assert made.json("/topics") == {"topics": ["t"]}


def test_a_tombstone_hides_a_node_for_one_topic_until_it_lapses(registry):
    made = registry(tombstone_lifetime="60s")
    node = joined(made, "t")
    node.register("u")

    assert made.post("/topic/tombstone", topic="t", node="node1.example:4151").status == 200
    assert made.producers("t") == [] and made.producers("u") == ["node1.example"]
    (listed,) = made.json("/nodes")["producers"]
    assert sorted(zip(listed["topics"], listed["tombstones"])) == [("t", True), ("u", False)]

    brief = registry(tombstone_lifetime="200ms")
    another = joined(brief, "t")
    assert brief.post("/topic/tombstone", topic="t", node="node1.example:4151").status == 200
    brief.wait_for_log("tombstone has lapsed", topic="t")
    assert brief.producers("t") == ["node1.example"] and another


def test_a_node_without_heartbeats_is_passed_over_until_it_is_heard(registry):
    made = registry(inactive_producer_timeout="3s")
    node = joined(made, "t")

    made.wait_for_log("node is silent, look-ups pass it over")
    assert made.producers("t") == [] and made.json("/nodes") == {"producers": []}
    assert node.command("PING") == b"OK"
    assert made.producers("t") == ["node1.example"]
    made.wait_for_log("node is heard again")


def test_look_ups_create_nothing(registry):
    made = registry()
    for path in ("/lookup?topic=t", "/channels?topic=t", "/nodes", "/debug", "/topics", "/info", "/", "/metrics"):
        made.ask(path)
    made.post("/topic/tombstone", topic="t", node="a:1")
    made.post("/channel/delete", topic="t", channel="c")
    joined(made).command("UNREGISTER t c")

    assert made.json("/topics") == {"topics": []} and made.json("/channels", topic="t") == {"channels": []}


def test_a_node_with_an_ipv6_address_is_named_without_brackets(registry):
    made = registry(tombstone_lifetime="60s")
    node = joined(made, "t", broadcast_address="2001:db8::1")

    assert made.post("/topic/tombstone", topic="t", node="[2001:db8::1]:4151").status == 200
    assert made.producers("t") == ["2001:db8::1"]
    assert made.post("/topic/tombstone", topic="t", node="2001:db8::1:4151").status == 200
    assert made.producers("t") == [] and node


def test_a_secret_for_nsqd_is_ignored(registry):
    made = registry()
    node = joined(made, "t")
    head = "GET /lookup?topic=t HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nAccept: application/vnd.nsq; version=1.0\r\n\r\n"
    assert "node1.example" in raw(made, head) and node


def test_debug_lists_what_there_is(registry):
    made = registry()
    node = joined(made, "t", "c")
    before = time.time_ns()
    made.post("/topic/create", topic="empty")
    made.post("/topic/tombstone", topic="t", node="node1.example:4151")

    report = made.json("/debug")
    assert list(report) == ["channel:t:c", "client::", "topic:t:"]
    (producer,) = report["channel:t:c"]
    assert list(producer) == ["broadcast_address", "hostname", "http_port", "id", "last_update", "tcp_port",
                              "tombstoned", "tombstoned_at", "version"]
    assert producer["id"] == "%s:%d" % node.socket.getsockname()
    assert abs(producer["last_update"] - before) < 60e9
    assert (producer["tombstoned"], producer["tombstoned_at"]) == (False, -6795364578871345152)
    assert report["topic:t:"][0]["tombstoned"] and report["topic:t:"][0]["tombstoned_at"] >= before - 60e9


def test_texts_of_nodes_are_escaped(registry):
    made = registry()
    node = joined(made, "t", hostname='<a>&"\\\n')

    assert node and r'"hostname":"\u003ca\u003e\u0026\"\\\n"' in made.ask("/nodes").text
    assert "&lt;a&gt;" in made.ask("/").text and "<a>" not in made.ask("/").text


def test_each_request_has_a_connection_of_its_own_which_is_over_when_it_is_answered(registry):
    made = registry()
    before = made.n_descriptors()
    for _ in range(100):
        with contextlib.closing(http.client.HTTPConnection(*made.address("nsqlookupd-http"))) as client:
            client.request("GET", "/topics")
            answer = client.getresponse()
            assert answer.getheader("Connection") == "close"
            answer.read()

    wait_until(lambda: made.n_descriptors() <= before, "all are closed")


def test_bodies_are_read_and_forgotten(registry):
    made = registry()
    made.ask("/topics")
    before_kb = made.status_kb("RssAnon")
    answer = raw(made, "POST /topic/create?topic=t HTTP/1.0\r\nContent-Length: 20000000\r\n\r\n" + "x" * 20_000_000)

    assert "200 OK" in answer
    assert has_address_sanitizer() or made.status_kb("RssAnon") - before_kb < 2000


def test_a_head_without_end_is_cut_off(registry):
    made = registry()
    made.ask("/topics")
    before_kb = made.status_kb("RssAnon")
    for start in (b"GET /", b"GET / HTTP/1.1\r\nHost: x\r\nA: "):
        with socket.create_connection(made.address("nsqlookupd-http"), timeout=TIMEOUT) as client, \
                pytest.raises(ConnectionError):
            client.sendall(start)
            for _ in range(1000):
                client.sendall(b"x" * 100_000)

    assert has_address_sanitizer() or made.status_kb("RssAnon") - before_kb < 2000
    assert made.ask("/ping").text == "OK"


# ---- the watch ----

def index_of(made, topic):
    return made.ask(f"/lookup?topic={topic}").headers["X-Leat-Index"]


def watch(made, topic, index, wait="20s"):
    started = time.monotonic()
    reply = made.ask(f"/lookup?topic={topic}&wait={wait}&index={index}", timeout=60)
    return reply, time.monotonic() - started


@pytest.fixture
def threads():
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        yield pool


def waiting(made, n):
    wait_until(lambda: made.metric("leat_registry_watches") == n, f"{n} look-ups wait")


def test_a_watch_is_answered_as_soon_as_a_node_comes_or_goes(registry, threads):
    made = registry()
    made.post("/topic/create", topic="t")
    index = index_of(made, "t")
    for change, expected in [(lambda: joined(made, "t", "c"), ["node1.example"]), (None, [])]:
        future = threads.submit(watch, made, "t", index)
        waiting(made, 1)
        started = time.monotonic()
        node = change() if change else node.close()
        reply, _ = future.result()

        assert time.monotonic() - started < 1 + BUSY
        assert [p["broadcast_address"] for p in json.loads(reply.text)["producers"]] == expected
        assert reply.headers["X-Leat-Index"] == index_of(made, "t") != index
        index = reply.headers["X-Leat-Index"]


def test_a_watch_on_what_is_no_topic_yet_waits_for_it(registry, threads):
    made = registry()
    future = threads.submit(watch, made, "t", index_of(made, "t"))
    waiting(made, 1)
    node = joined(made, "t")

    reply, _ = future.result()
    assert reply.status == 200 and node


def test_a_watch_sees_time_pass(registry):
    lapsing = registry(tombstone_lifetime="300ms")
    silent = registry(inactive_producer_timeout="1s")
    nodes = [joined(made, "t") for made in (lapsing, silent)]
    lapsing.post("/topic/tombstone", topic="t", node="node1.example:4151")

    for made, number in ((lapsing, 1), (silent, 0)):
        started = time.monotonic()
        reply = made.ask("/lookup?topic=t")
        while len(json.loads(reply.text)["producers"]) != number:
            reply, _ = watch(made, "t", reply.headers["X-Leat-Index"])
        assert time.monotonic() - started < 1 + BUSY  # by far less than the watch would have waited
    assert all(nodes)


def test_a_watch_ends_with_its_time_and_an_old_index_is_answered_at_once(registry):
    made = registry()
    made.post("/topic/create", topic="t")
    reply, took = watch(made, "t", index_of(made, "t"), wait="300ms")

    assert reply.status == 200 and 0.3 <= took < 0.3 + BUSY
    assert watch(made, "t", "1")[1] < BUSY
    assert watch(made, "t", index_of(made, "t"), wait="0")[1] < BUSY


def test_changes_of_other_topics_wake_nobody(registry, threads):
    made = registry()
    node = joined(made, "t")
    future = threads.submit(watch, made, "t", index_of(made, "t"), "60s")
    waiting(made, 1)
    node.register("u")
    node.register("t", "c")
    node.command("PING")

    assert made.metric("leat_registry_watches") == 1 and not future.done()
    node.close()
    assert json.loads(future.result()[0].text)["producers"] == []


def test_a_watcher_that_went_away_is_forgotten(registry):
    made = registry()
    index = index_of(made, "t")
    with socket.create_connection(made.address("nsqlookupd-http")) as client:
        client.sendall(f"GET /lookup?topic=t&wait=3s&index={index} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        waiting(made, 1)

    waiting(made, 0)
    assert joined(made, "t")


def test_a_stop_answers_who_waits(registry, threads):
    made = registry()
    node = joined(made, "t")
    futures = [threads.submit(watch, made, "t", index_of(made, "t"), "60s") for _ in range(10)]
    waiting(made, 10)
    made.stop()

    assert node.is_at_end()
    assert all(future.result()[0].status == 200 for future in futures)
    assert made.log("stopped")[0]["ms"] < BUSY * 1000


def test_a_look_up_that_waits_keeps_its_place_and_half_requests_give_way(registry):
    made = registry(max_http_connections=4)
    index = index_of(made, "t")
    with contextlib.ExitStack() as clients:
        def connect():
            return clients.enter_context(socket.create_connection(made.address("nsqlookupd-http"), timeout=TIMEOUT))

        watcher = connect()
        watcher.sendall(f"GET /lookup?topic=t&wait=30s&index={index} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        waiting(made, 1)
        halves = [connect() for _ in range(3)]
        for half in halves:
            half.sendall(b"GET /ping HTTP/1.1\r\n")

        assert [made.ask("/ping").text for _ in range(10)] == ["OK"] * 10
        assert joined(made, "t")
        assert watcher.recv(1000).startswith(b"HTTP/1.1 200 OK\r\n")
        made.wait_for_log("connections closed to keep room", component="nsqlookupd-http", reason="room-for-another")
        assert made.metric("leat_http_connections_closed_total", component="nsqlookupd-http") > 0


def test_large_answers_that_nobody_reads_give_way_to_others(registry):
    made = registry(max_http_connections=100)
    node = joined(made)
    node.send(b"".join(b"REGISTER topic-%05d-%s c\n" % (i, b"x" * 50) for i in range(20000)))
    assert node.read(20000 * 6) == 20000 * b"\0\0\0\2OK"
    size = len(made.ask("/debug").text)
    deaf = []
    for _ in range(2 * 16 * 1024 * 1024 // size + 2):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(made.address("nsqlookupd-http"))
        client.sendall(b"GET /debug HTTP/1.1\r\nHost: r\r\n\r\n")
        deaf.append(client)

    line = made.wait_for_log("connections closed to keep room", reason="unread-answer")
    assert line["peer"] == "%s:%d" % deaf[0].getsockname()
    assert len(made.ask("/debug").text) == size


def test_requests_that_libraries_complain_of_have_a_line_now_and_then(registry):
    """libsoup hands a length that is none to GLib, which warns of it each time."""
    made = registry()
    began = time.monotonic()
    for _ in range(40):
        with socket.create_connection(made.address("nsqlookupd-http"), timeout=10) as client:
            client.sendall(b"GET /ping HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n")
            assert client.recv(1000).startswith(b"HTTP/1.1 ")

    assert made.metric("leat_library_messages_total") == 40
    assert 1 <= len(made.log("message of a library")) <= 1 + time.monotonic() - began
    assert made.ask("/ping").text == "OK"


def test_a_full_registry_refuses_what_is_new_and_goes_on(registry):
    made = registry(max_registrations=4)
    node = joined(made, "t", "c")

    for i in range(20):
        assert node.command(f"REGISTER new{i}") == b"E_INVALID the registry is full"
        reply = made.post("/topic/create", topic=f"new{i}")
        assert (reply.status, reply.text) == (503, '{"message":"REGISTRY_FULL"}')
    assert node.command("REGISTER t c") == node.command("PING") == b"OK"
    assert made.producers("t") == ["node1.example"] and made.json("/topics") == {"topics": ["t"]}
    assert made.metric("leat_registry_refusals_total", reason="resources") == 40
    assert len(made.log("out of resources")) < 10


def test_requests_that_change_nothing_have_no_line_of_the_log(registry):
    made = registry()
    for _ in range(3):
        assert made.post("/topic/create", topic="t").status == 200
        assert made.post("/channel/create", topic="t", channel="c").status == 200
    for _ in range(3):
        assert made.post("/topic/tombstone", topic="t", node="none:1").status == 200
        made.post("/channel/delete", topic="t", channel="c")
    for _ in range(3):
        assert made.post("/topic/delete", topic="t").status == 200

    assert [entry["action"] for entry in made.log("asked over HTTP")] == [
        "create topic", "create channel", "delete channel", "delete topic"]
