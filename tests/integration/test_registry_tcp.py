"""test_registry_tcp.py - NSQ's look-up protocol V1, byte for byte, and what hostile clients get."""
import contextlib
import json
import socket
import struct
import time

import pytest

from leat import BUSY, needs, wait_until
from registry import IDENTITY, Node, has_address_sanitizer, joined

pytestmark = needs("libsoup")


def body(**changes):
    return json.dumps({**IDENTITY, **changes}).encode()


def test_a_node_registers_and_is_found(registry):
    made = registry(broadcast_address="registry.example")
    node = Node(made.tcp)

    answer = node.identify()
    assert answer.decode() == json.dumps({
        "broadcast_address": "registry.example", "hostname": socket.gethostname(),
        "http_port": made.port("nsqlookupd-http"), "tcp_port": made.tcp[1], "version": "1.3.0"}, separators=(",", ":"))
    assert node.send(b"REGISTER t c\n").read(6) == b"\0\0\0\2OK"
    assert node.send(b"PING\n").read(6) == b"\0\0\0\2OK"
    local = "%s:%d" % node.socket.getsockname()
    assert made.ask("/lookup?topic=t").text == (
        '{"channels":["c"],"producers":[{"remote_address":"' + local + '","hostname":"node1",'
        '"broadcast_address":"node1.example","tcp_port":4150,"http_port":4151,"version":"1.3.0"}]}')


UNKNOWN_NODE = [
    (b"NOPE\n", b"E_INVALID invalid command NOPE"),
    (b"\n", b"E_INVALID invalid command "),
    (b"ping\n", b"E_INVALID invalid command ping"),
    (b"REGISTER t\n", b"E_INVALID client must IDENTIFY"),
    (b"UNREGISTER\n", b"E_INVALID client must IDENTIFY"),
    (b"IDENTIFY\n\0\0\0\2{}", b"E_BAD_BODY IDENTIFY missing fields"),
    (b"IDENTIFY\n\0\0\0\0", b"E_BAD_BODY IDENTIFY failed to decode JSON body"),
    (b"IDENTIFY\n\0\0\0\3{]}", b"E_BAD_BODY IDENTIFY failed to decode JSON body"),
    (b"IDENTIFY\n\xff\xff\xff\xff", b"E_BAD_BODY IDENTIFY failed to read body size"),
    (b"IDENTIFY\n\x7f\xff\xff\xff", b"E_BAD_BODY IDENTIFY failed to read body size"),
    (b"x" * 5000, b"E_INVALID command is too long"),
]


def test_what_is_refused_before_a_node_is_known(registry):
    made = registry()
    for commands, expected in UNKNOWN_NODE:
        node = Node(made.tcp).send(commands)

        assert node.answer() == expected
        assert node.is_at_end()


KNOWN_NODE = [
    ("REGISTER", "E_INVALID REGISTER insufficient number of params"),
    ("UNREGISTER", "E_INVALID UNREGISTER insufficient number of params"),
    ("REGISTER  t", "E_BAD_TOPIC REGISTER topic name '' is not valid"),
    ("REGISTER t$ c$", "E_BAD_TOPIC REGISTER topic name 't$' is not valid"),
    ("UNREGISTER t c$", "E_BAD_CHANNEL UNREGISTER channel name 'c$' is not valid"),
    ("IDENTIFY", "E_INVALID cannot IDENTIFY again"),
]


def test_a_refusal_ends_the_connection_and_the_node_is_gone(registry):
    made = registry()
    for line, expected in KNOWN_NODE:
        node = joined(made, "t")

        assert node.command(line).decode() == expected
        assert node.is_at_end()
        assert made.producers("t") == []
    assert made.json("/topics") == {"topics": ["t"]}


def test_another_magic_is_answered_once(registry):
    made = registry()

    assert Node(made.tcp, magic=b"  V2").answer() == b"E_BAD_PROTOCOL"
    assert Node(made.tcp, magic=b"GET / HTTP/1.0\r\n\r\n").read(18) == b"\0\0\0\x0eE_BAD_PROTOCOL"
    short = Node(made.tcp, magic=b"  V")
    short.socket.shutdown(socket.SHUT_WR)
    assert short.is_at_end()


def test_a_body_that_breaks_off_is_answered(registry):
    made = registry()
    for start, expected in [(b"IDENTIFY\n\0\0", b"E_BAD_BODY IDENTIFY failed to read body size"),
                            (b"IDENTIFY\n\0\0\0\4{}", b"E_BAD_BODY IDENTIFY failed to read body")]:
        node = Node(made.tcp).send(start)
        node.socket.shutdown(socket.SHUT_WR)

        assert node.answer() == expected
        assert node.is_at_end()


def test_commands_sent_at_once_are_answered_in_order(registry):
    identity = body()
    node = Node(registry().tcp)
    node.send(b"PING\nIDENTIFY\n" + struct.pack(">i", len(identity)) + identity + b"REGISTER t c\r\n  PING x\nNOPE\n")
    node.socket.shutdown(socket.SHUT_WR)

    answers = [node.answer() for _ in range(5)]
    assert answers[0] == answers[2] == answers[3] == b"OK"
    assert b"broadcast_address" in answers[1]
    assert answers[4] == b"E_INVALID invalid command NOPE"
    assert node.is_at_end()


def test_commands_may_come_byte_by_byte(registry):
    made = registry()
    identity = body()
    node = Node(made.tcp)
    node.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in b"IDENTIFY\n" + struct.pack(">i", len(identity)) + identity + b"REGISTER t c\n":
        node.send(bytes([byte]))

    assert b"broadcast_address" in node.answer()
    assert node.answer() == b"OK"
    assert made.producers("t") == ["node1.example"]


def test_who_does_not_read_is_not_listened_to(registry):
    made = registry()
    node = joined(made)
    node.socket.settimeout(0.5)
    with pytest.raises(TimeoutError):
        for _ in range(200):
            node.send(b"PING\n" * 100_000)

    assert has_address_sanitizer() or made.status_kb("RssAnon") < 20_000
    assert joined(made, "t").command("PING") == b"OK"


def test_a_thousand_connections_of_nonsense_leave_nothing(registry):
    made = registry(max_connections=200)
    made.ask("/nodes")
    joined(made, "t").close()
    wait_until(lambda: made.metric("leat_registry_connections") == 0, "the node is gone")
    before_kb, before = made.status_kb("RssAnon"), made.n_descriptors()
    for start in [b"\x16\x03\x01\x02\x00\x01\x00\x01", b"  V1IDENTIFY\n\x7f", b"  V1" + b"A" * 4096, b"  V1\0\0\0\n",
                  b"  V1IDENTIFY\n\0\0\x40\0" + b"[" * 8000]:
        for _ in range(10):
            with contextlib.ExitStack() as clients:
                for _ in range(20):
                    client = clients.enter_context(socket.create_connection(made.tcp))
                    client.sendall(start)

    wait_until(lambda: made.metric("leat_registry_connections") == 0, "all are gone")
    wait_until(lambda: made.n_descriptors() <= before, "their descriptors are, too")
    assert has_address_sanitizer() or made.status_kb("RssAnon") - before_kb < 2000
    refused = made.metric("leat_registry_refusals_total")
    assert refused > 0 and len(made.log("client speaks something else")) < 50


def test_one_connection_too_many_is_closed(registry):
    made = registry(max_connections=2)
    nodes = [joined(made, "t"), joined(made, "t")]

    assert Node(made.tcp).is_at_end()
    assert made.wait_for_log("too many connections")
    nodes[0].close()
    wait_until(lambda: len(made.producers("t")) == 1, "the first is gone")
    assert joined(made, "t").command("PING") == b"OK"


def test_the_registry_accepts_again_once_there_are_descriptors(registry):
    made = registry(keywords={"prefix": ["prlimit", "--nofile=40:40"]})
    made.ask("/ping")
    with contextlib.ExitStack() as clients:
        for _ in range(60):
            clients.enter_context(socket.create_connection(made.tcp))
        made.wait_for_log("out of resources")
        first_cpu = made.cpu_seconds(0.3)

    assert first_cpu < 0.2
    assert joined(made, "t").command("PING") == b"OK"


def test_a_silent_connection_is_closed_after_twice_the_patience(registry):
    made = registry(inactive_producer_timeout="1s")
    started = time.monotonic()
    node = joined(made, "t")

    assert node.is_at_end()
    assert 2 <= time.monotonic() - started < 2 + BUSY
    made.wait_for_log("node left", reason="it was idle for too long")


def test_the_heartbeats_of_ten_thousand_nodes_take_less_than_a_twentieth_of_a_core(registry):
    """Measured with a thousand, each of which beats ten times: what counts is the cost of a beat."""
    made = registry()
    nodes = [joined(made, f"t{i % 10}", broadcast_address=f"n{i}") for i in range(1000)]
    rss_kb = made.status_kb("RssAnon")
    before = made.cpu_used()
    for _ in range(10):
        for node in nodes:
            node.send(b"PING\n")
        for node in nodes:
            assert node.answer() == b"OK"
    per_beat = (made.cpu_used() - before) / 10_000

    # At one beat in 15 s ten thousand nodes make 667 a second.
    assert has_address_sanitizer() or per_beat * 667 < 0.05
    assert has_address_sanitizer() or rss_kb < 10_000


def test_a_registry_that_is_full_refuses_what_is_new(registry):
    made = registry(max_registrations=4)
    node = joined(made, "t", "c")

    assert made.post("/topic/create", topic="u").status == 503
    assert node.command("REGISTER t c") == b"OK"
    assert node.command("REGISTER u") == b"E_INVALID the registry is full"
    assert node.command("PING") == b"OK" and made.producers("t") == ["node1.example"]
    assert made.wait_for_log("out of resources")
    node.close()
    made.wait_for_log("node left")
    assert made.post("/topic/create", topic="u").status == 200
