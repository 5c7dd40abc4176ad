"""test_nsq.py - NSQ's own programs on leat-registry and on nsqlookupd: one script, and what both say is compared."""
import http.client
import json
import re
import socket
import struct

import pytest

from leat import wait_until
from nsq_programs import NsqWorld, ask
from registry import Node


@pytest.fixture(params=["leat-registry", "nsqlookupd"])
def world(request, tmp_path, nsq_programs):
    made = NsqWorld(tmp_path, nsq_programs, request.param == "nsqlookupd")
    made.start_registry()
    yield made
    made.stop_all()


def test_publish_discover_consume_tombstone_delete(world):
    world.start_nsqd()
    world.start_admin()
    wait_until(lambda: len(ask(world.http, "/nodes")[1]["producers"]) == 1, "nsqd has joined")
    for i in range(100):
        assert ask(world.nsqd_http, "/pub", "POST", f"message {i}".encode(), topic="t") == (200, "OK")
    wait_until(lambda: ask(world.http, "/lookup", topic="t")[0] == 200, "the topic is registered")

    world.start_to_file("t")
    wait_until(lambda: len(world.written()) == 100, "all is consumed")
    assert ask(world.http, "/lookup", topic="t")[1]["channels"] == ["archive"]

    assert ask(world.admin, "/api/topics")[1]["topics"] == ["t"]
    assert ask(world.admin, "/api/topics/t")[1]["nodes"][0]["node"] == f"127.0.0.1:{world.nsqd_http}"
    (node,) = ask(world.admin, "/api/nodes")[1]["nodes"]
    assert node["tcp_port"] == world.nsqd_tcp and node["topics"] == [{"topic": "t", "tombstoned": False}]

    name = f"127.0.0.1:{world.nsqd_http}"
    assert ask(world.admin, f"/api/nodes/{name}", "DELETE", json.dumps({"topic": "t"}).encode())[0] == 200
    assert ask(world.http, "/lookup", topic="t")[1]["producers"] == []
    assert not ask(world.admin, "/api/nodes")[1]["nodes"][0]["topics"]  # nsqadmin deletes the topic on that node too

    assert ask(world.admin, "/api/topics", "POST", json.dumps({"topic": "u", "channel": "c"}).encode())[0] == 200
    assert ask(world.http, "/channels", topic="u") == (200, {"channels": ["c"]})
    assert ask(world.admin, "/api/topics/u/c", "DELETE")[0] == 200
    assert ask(world.http, "/channels", topic="u") == (200, {"channels": []})
    assert ask(world.admin, "/api/topics/u", "DELETE")[0] == 200
    assert "u" not in ask(world.http, "/topics")[1]["topics"]


def test_a_topic_of_nsqd_that_is_deleted_there_is_gone_here(world):
    world.start_nsqd()
    assert ask(world.nsqd_http, "/channel/create", "POST", topic="t", channel="c")[0] == 404
    assert ask(world.nsqd_http, "/topic/create", "POST", topic="t")[0] == 200
    assert ask(world.nsqd_http, "/channel/create", "POST", topic="t", channel="ch")[0] == 200
    wait_until(lambda: {"topic:t:", "channel:t:ch"} <= set(ask(world.http, "/debug")[1]), "both are registered")

    assert ask(world.nsqd_http, "/topic/delete", "POST", topic="t")[0] == 200
    wait_until(lambda: not {"topic:t:", "channel:t:ch"} & set(ask(world.http, "/debug")[1]), "both are gone")
    assert ask(world.http, "/lookup", topic="t") == (200, {"channels": ["ch"], "producers": []})


def test_channels_that_the_registry_knows_are_made_before_a_new_topic_flows(world):
    world.start_nsqd()
    wait_until(lambda: len(ask(world.http, "/nodes")[1]["producers"]) == 1, "nsqd has joined")
    assert ask(world.http, "/channel/create", "POST", topic="t", channel="made-before")[0] == 200
    assert ask(world.nsqd_http, "/pub", "POST", b"first", topic="t")[0] == 200

    (topic,) = ask(world.nsqd_http, "/stats", format="json")[1]["topics"]
    wait_until(lambda: [c["depth"] for c in ask(world.nsqd_http, "/stats", format="json")[1]["topics"][0]["channels"]]
               == [1], "the channel has the message")
    assert [c["channel_name"] for c in topic["channels"]] == ["made-before"]


def test_a_registry_that_restarts_knows_all_again(world):
    world.start_nsqd()
    assert ask(world.nsqd_http, "/pub", "POST", b"one", topic="t")[0] == 200
    wait_until(lambda: ask(world.http, "/lookup", topic="t")[0] == 200, "the topic is registered")
    world.start_to_file("t")
    wait_until(lambda: len(world.written()) == 1, "it is consumed")

    assert world.stop("registry") == 0
    assert ask(world.nsqd_http, "/pub", "POST", b"two", topic="t")[0] == 200
    wait_until(lambda: len(world.written()) == 2, "consumers go on without a registry")
    world.start_registry()
    wait_until(lambda: ask(world.http, "/channels", topic="t") == (200, {"channels": ["archive"]}),
               "nsqd has noticed at one heartbeat, and registered again at the next", timeout=45)
    assert len(ask(world.http, "/lookup", topic="t")[1]["producers"]) == 1


# ---- the same requests to both, and the answers compared ----

REQUESTS = [
    ("GET", "/ping"), ("HEAD", "/ping"), ("GET", "/info"), ("HEAD", "/lookup"), ("POST", "/lookup"), ("GET", "/topic/create"),
    ("OPTIONS", "/lookup"), ("OPTIONS", "/topic/delete"), ("OPTIONS", "/nowhere"), ("GET", "/nowhere"), ("GET", "/Lookup"),
    ("GET", "/lookup/"), ("GET", "//lookup?topic=t&x=<a>"), ("POST", "/topic/create/?topic=x"), ("PUT", "/topics/"),
    ("DELETE", "/topics"), ("GET", "/lookup"), ("GET", "/lookup?topic"), ("GET", "/lookup?topic="), ("GET", "/lookup?topic=a;b"),
    ("GET", "/lookup?a=b&&topic=t"), ("GET", "/lookup?%74opic=t"), ("GET", "/lookup?topic=a%00b"), ("GET", "/%6cookup?topic=t"),
    ("GET", "/channels"), ("GET", "/channels?topic=t"), ("GET", "/channels?topic=none"), ("GET", "/topics"), ("GET", "/nodes"),
    ("POST", "/topic/create"), ("POST", "/topic/create?topic=%24"), ("POST", "/topic/create?topic=e%23ephemeral"),
    ("POST", "/topic/tombstone?topic=t"), ("POST", "/topic/tombstone?topic=t&node=node1.example:4151"),
    ("GET", "/lookup?topic=t"), ("GET", "/nodes"), ("GET", "/debug"), ("POST", "/channel/create?topic=t"),
    ("POST", "/channel/create?topic=t&channel=%24"), ("POST", "/channel/delete?topic=t&channel=none"),
    ("POST", "/channel/delete?topic=t&channel=c"), ("GET", "/lookup?topic=t"), ("POST", "/topic/delete?topic=t"),
    ("GET", "/lookup?topic=t"), ("GET", "/debug"),
]

COMMANDS = [
    b"PING\n", b"NOPE\n", b"\n", b" PING \r\n", b"REGISTER t\n", b"IDENTIFY\n\0\0\0\2{}", b"IDENTIFY\n\0\0\0\4null",
    b"IDENTIFY\n\0\0\0\0", b"IDENTIFY\n\0\0\0\3{]}",
]
COMMANDS_OF_A_NODE = [
    b"REGISTER\n", b"REGISTER \n", b"REGISTER  t\n", b"REGISTER t  c\n", b"REGISTER t$ c$\n", b"REGISTER t c$\n",
    b"REGISTER t c extra\n", b"UNREGISTER t\n", b"UNREGISTER none none\n", b"UNREGISTER\n", b"IDENTIFY\n",
    b"REGISTER " + b"x" * 65 + b"\n", b"REGISTER #ephemeral\n", b"REGISTER t#ephemeral c#ephemeral\nUNREGISTER t#ephemeral\n",
]


# Of headers that have another value each time the name alone is compared.
CHANGING = {"date", "x-leat-index", "x-leat-epoch"}


def answer_of(port, method, target):
    """An HTTP answer with all that must not differ: the line of the request, status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, target)
    connection.endheaders()
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    text = re.sub(r"127\.0\.0\.1:\d+", "PEER", text)
    text = re.sub(r'("last_update":|"tombstoned_at":)\d+', r"\1TIME", text)
    headers = {name.lower(): "" if name.lower() in CHANGING else value.lower() for name, value in reply.getheaders()}
    if "PEER" in text:
        headers["content-length"] = ""
    return f"{method} {target}", f"{reply.status} {reply.reason}", headers, text


def headers_of_ours(request, status):
    """What leat-registry says beside what nsqlookupd does: the rows of docs/registry-differences.md about headers."""
    ours = {"connection": "close"}
    is_lookup = re.match(r"GET /(%6c|l)ookup\?", request) is not None
    if is_lookup and status.split()[0] in ("200", "404"):
        ours |= {"x-leat-index": "", "x-leat-epoch": ""}
    return ours


def read_all(node):
    data = b""
    try:
        while more := node.socket.recv(65536):
            data += more
    except ConnectionResetError:
        pass
    return data


def transcript(world):
    """What the registry says to the same requests and commands."""
    address = ("127.0.0.1", world.tcp)
    said = [read_all_after(Node(address, magic=magic)) for magic in (b"  V2", b"GET ", b"  V")]
    for command in COMMANDS:
        said.append(read_all_after(Node(address).send(command)))
    for command in COMMANDS_OF_A_NODE:
        node = Node(address)
        node.identify()
        said.append(read_all_after(node.send(command)))
    node = Node(address)
    identity = json.dumps({**node.identity, "hostname": "<&>", "extra": [1.5, {"a": None}]}).encode()
    node.identify(identity)
    node.register("t", "c")
    said += [answer_of(world.http, method, target) for method, target in REQUESTS]
    node.close()
    return said


def read_all_after(node):
    node.socket.shutdown(socket.SHUT_WR)
    return read_all(node)


def test_both_say_the_same(tmp_path, nsq_programs):
    said = []
    for original in (False, True):
        (tmp_path / str(original)).mkdir()
        world = NsqWorld(tmp_path / str(original), nsq_programs, original)
        world.start_registry()
        try:
            said.append(transcript(world))
        finally:
            world.stop_all()

    ours, theirs = said
    assert len(ours) == len(theirs) > 60
    for mine, original in zip(ours, theirs):
        if isinstance(original, tuple):
            request, status, headers, text = original
            original = (request, status, headers | headers_of_ours(request, status), text)
        assert mine == original


def test_what_differs_is_what_the_list_of_differences_says(world):
    """docs/registry-differences.md: each row of it that a request can show."""
    ours = not world.original
    Node(("127.0.0.1", world.tcp)).identify()
    assert ask(world.http, "/topic/create", "POST", topic="t")[0] == 200

    assert (ask(world.http, "/")[0] == 200) == ours
    assert (ask(world.http, "/lookup", topic="*")[0] == 404) == ours
    assert (ask(world.http, "/topic/delete", "POST", topic="*")[0] == 400) == ours
    assert (ask(world.http, "/debug/pprof/cmdline")[0] == 404) == ours
    assert ask(world.http, "/lookup?topic=%zz")[0] == 400
    long = Node(("127.0.0.1", world.tcp)).send(b"PING" + b" " * 5000 + b"\n")
    assert (long.answer() == b"OK") != ours
    big = json.dumps({**long.identity, "x": "y" * 20000}).encode()
    node = Node(("127.0.0.1", world.tcp)).send(b"IDENTIFY\n" + struct.pack(">i", len(big)) + big)
    assert (b"broadcast_address" in node.answer()) != ours
