"""test_registry_stop.py - leat-registry is told to stop while everybody asks: what is in hand is answered whole."""
import concurrent.futures
import contextlib
import http.client
import json
import socket

import pytest

from leat import BUSY, TIMEOUT, needs, wait_until
from registry import Node, Registry
from remoting import Remoting

pytestmark = needs("libsoup")
GONE = (OSError, EOFError, http.client.HTTPException)


@pytest.fixture
def both(tmp_path):
    """Both protocols in one process."""
    made = Registry(tmp_path, {
        "http": "127.0.0.1:0", "nsqlookupd": {"tcp-address": "127.0.0.1:0", "http-address": "127.0.0.1:0"},
        "namesrv": {"listen": "127.0.0.1:0", "kv-config-path": str(tmp_path / "kvConfig.json")}}).start()
    yield made
    if made.is_running:
        made.stop()


class Crowd:
    """Clients that ask until the registry has gone."""

    def __init__(self, made):
        self.remoting, self.tcp, self.http = made.namesrv, made.tcp, made.address("nsqlookupd-http")
        self.saved, self.torn, self.counts = set(), [], {"change": 0, "route": 0, "ping": 0, "lookup": 0}

    def change(self, number):
        client = Remoting(self.remoting)
        with contextlib.suppress(*GONE):
            while True:
                key = f"{number}-{self.counts['change']}"
                assert client.ask(100, namespace="n", key=key, value="v").code == 0
                self.saved.add(key)
                self.counts["change"] += 1

    def route(self, number):
        client = Remoting(self.remoting)
        client.register(f"b{number}", f"10.0.0.{number}:1")
        with contextlib.suppress(*GONE):
            while True:
                assert client.route("t1").code == 0
                self.counts["route"] += 1

    def ping(self, number):
        node = Node(self.tcp, broadcast_address=f"n{number}")
        node.identify()
        node.register("t")
        with contextlib.suppress(*GONE):
            while True:
                assert node.command("PING") == b"OK"
                self.counts["ping"] += 1

    def lookup(self, _number):
        with contextlib.suppress(*GONE):
            while True:
                with socket.create_connection(self.http, timeout=20) as client:
                    client.sendall(b"GET /lookup?topic=t HTTP/1.1\r\nHost: x\r\n\r\n")
                    said = b"".join(iter(lambda client=client: client.recv(65536), b""))
                head, _, body = said.partition(b"\r\n\r\n")
                if said and f"Content-Length: {len(body)}\r\n".encode() not in head + b"\r\n":
                    self.torn.append(said)
                self.counts["lookup"] += 1


def test_a_stop_under_load_answers_what_is_in_hand_and_keeps_the_kv_configuration_whole(both):
    crowd = Crowd(both)
    waiting, watcher = Remoting(both.namesrv), socket.create_connection(both.address("nsqlookupd-http"), timeout=20)
    waiting.send(105, topic="none", leatWait=60000, leatIndex=waiting.route("none").fields["leatIndex"])
    index = both.ask("/lookup?topic=none").headers["X-Leat-Index"]
    watcher.sendall(f"GET /lookup?topic=none&wait=30s&index={index} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    wait_until(lambda: both.metric("leat_registry_watches") == 2, "both wait")
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        asking = [threads.submit(what, number) for what in (crowd.change, crowd.route, crowd.ping, crowd.lookup)
                  for number in (1, 2)]
        wait_until(lambda: min(crowd.counts.values()) > 20, "all of them are being answered")
        both.signal()
        assert both.wait() == 0
        for one in asking:
            one.result()

    assert both.log("stopped")[0]["ms"] < 1000 + BUSY * 1000
    assert not crowd.torn
    with watcher:
        assert watcher.recv(1000).startswith(b"HTTP/1.1 404 ")
    assert waiting.receive().code == 17 and waiting.is_at_end()
    kept = json.loads((both.folder / "kvConfig.json").read_text())["configTable"]["n"]
    assert crowd.saved <= kept.keys() and len(kept) - len(crowd.saved) <= 2  # answers that did not go out any more


def test_who_still_asks_while_it_stops_is_not_told_that_all_have_left(both):
    node = Node(both.tcp, broadcast_address="n1")
    node.identify()
    node.register("t")
    clients = [socket.create_connection(both.address("nsqlookupd-http"), timeout=TIMEOUT) for _ in range(20)]
    for client in clients:
        client.sendall(b"GET /lookup?topic=t HTTP/1.1\r\n")
    assert both.json("/lookup", topic="t")["producers"]  # who came before has a connection by now
    both.signal()
    said = []
    with contextlib.suppress(ConnectionError):
        for client in clients:
            client.sendall(b"Host: x\r\n\r\n")
    for client in clients:
        with client, contextlib.suppress(ConnectionError):
            said.append(b"".join(iter(lambda client=client: client.recv(65536), b"")))

    assert both.wait() == 0
    assert all(b'"broadcast_address":"n1"' in answer for answer in said if answer)
