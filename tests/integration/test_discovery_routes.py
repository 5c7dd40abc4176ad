"""test_discovery_routes.py - an edge that finds collectors as brokers of a topic, at a name server that has no watch."""
import json
import socketserver
import struct
import threading

import pytest

from fake_registry import Blunt
from leat import needs, wait_until
from test_discovery import TOPIC, n_hosts
from tiers import edge, wait_for_more

READ, WRITE = 4, 2


class PlainNamesrv:
    """A name server as far as routes go. brokers: name -> (addresses by id, write queues, perm)."""

    def __init__(self, **brokers):
        self.brokers = brokers
        self.asked = []  # fields of requests
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                while head := self.rfile.read(4):
                    frame = self.rfile.read(struct.unpack(">i", head)[0])
                    (length,) = struct.unpack(">i", frame[:4])
                    request = json.loads(frame[4:4 + (length & 0xffffff)])
                    outer.asked.append(request["extFields"])
                    self.answer(request, outer.route())

            def answer(self, request, route):
                header = {"code": 0 if route else 17, "flag": 1, "language": "JAVA", "opaque": request["opaque"], "version": 479}
                header = json.dumps(header).encode()
                body = json.dumps(route).encode() if route else b""
                self.wfile.write(struct.pack(">ii", 4 + len(header) + len(body), len(header)) + header + body)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def route(self):
        return self.brokers and {
            "brokerDatas": [{"brokerAddrs": {str(i): a for i, a in addresses.items()}, "brokerName": name, "cluster": "c"}
                            for name, (addresses, _, _) in self.brokers.items()],
            "queueDatas": [{"brokerName": name, "perm": perm, "readQueueNums": n, "topicSysFlag": 0, "writeQueueNums": n}
                           for name, (_, n, perm) in self.brokers.items()],
            "filterServerTable": {}}

    @property
    def address(self):
        return "127.0.0.1:%d" % self.server.server_address[1]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def plain_namesrv():
    made = []

    def make(**brokers):
        made.append(PlainNamesrv(**brokers))
        return made[-1]

    yield make
    for each in made:
        each.close()


def broker(end, queues=4, perm=READ | WRITE, **slaves):
    return {0: end.address, **{int(key[1:]): slave.address for key, slave in slaves.items()}}, queues, perm


def router(address, sink=None, sequence=None, **discovery):
    """When it stops it does not wait long for a host that takes what is left."""
    config = edge([], {"rate": 1000, "batch-size": 10, **(sequence or {})}, {"linger": "0s", "batch-size": 10, **(sink or {})},
                  **{"shutdown-timeout": "500ms"})
    del config["sinks"]["out"]["hosts"]
    config["sinks"]["out"]["discovery"] = {"type": "namesrv", "addresses": [address], "topic": TOPIC,
                                           "poll-interval": "100ms", **discovery}
    return config


def test_brokers_of_a_topic_get_shares_as_they_have_write_queues(far_end, leat, plain_namesrv):
    ends = [far_end("a"), far_end("b")]
    server = plain_namesrv(a=broker(ends[0], 4), b=broker(ends[1], 12))
    leat(router(server.address, sequence={"rate": 5000, "count": 2000}, namespace="qa"))

    wait_until(lambda: len(ends[0].bodies) + len(ends[1].bodies) == 2000, "all have arrived")

    assert 0.20 < len(ends[0].bodies) / 2000 < 0.30
    assert server.asked[0]["topic"] == "qa%" + TOPIC


def test_a_broker_without_write_permission_gets_nothing_more(far_end, leat, plain_namesrv):
    ends = [far_end("a"), far_end("b")]
    server = plain_namesrv(a=broker(ends[0]), b=broker(ends[1]))
    agent = leat(router(server.address))
    for end in ends:
        end.wait_for(10)

    server.brokers["a"] = broker(ends[0], perm=READ)
    agent.wait_for_log("host left", peer=ends[0].address)
    wait_for_more([ends[1]], 50)
    n_drained = len(ends[0].bodies)
    wait_for_more([ends[1]], 100)

    assert len(ends[0].bodies) == n_drained
    server.brokers["a"] = broker(ends[0])
    wait_for_more([ends[0]], 10)


def test_a_slave_takes_over_from_its_master_and_gives_back(far_end, leat, plain_namesrv):
    master, slave = far_end("master"), far_end("slave")
    server = plain_namesrv(a=broker(master, _1=slave))
    leat(router(server.address, {"max-host-backoff": "100ms"}))

    master.wait_for(200)
    assert slave.bodies == []
    master.kill()
    slave.wait_for(100)
    master.start()

    wait_for_more([master], 100)
    n_at_slave = len(slave.bodies)
    wait_for_more([master], 200)
    assert len(slave.bodies) == n_at_slave


def test_a_topic_without_a_route_is_waited_for_and_one_that_loses_it_keeps_its_hosts(far_end, leat, plain_namesrv):
    end = far_end()
    server = plain_namesrv()
    agent = leat(router(server.address))
    wait_until(lambda: agent.request("/healthz").text == "sink 'out': no host is known: registries name none\n", "it is said")

    server.brokers["a"] = broker(end)
    end.wait_for(10)
    server.brokers = {}
    n_asked = len(server.asked)
    wait_until(lambda: len(server.asked) >= n_asked + 3, "it has been asked since")

    wait_for_more([end], 50)
    assert n_hosts(agent) == 1


@needs("libsoup")
def test_the_port_of_an_nsqlookupd_is_told_from_that_of_a_name_server(leat, registry):
    names = registry()
    agent = leat(router("%s:%d" % names.tcp))

    line = agent.wait_for_log("trouble with a registry")
    assert f"port {names.tcp[1]} is nsqlookupd's for TCP" in line["detail"] and "9876" in line["detail"]


@needs("libsoup")
def test_a_name_server_that_dies_is_not_taken_for_a_wrong_port(leat, namesrv):
    names = namesrv()
    agent = leat(router("%s:%d" % names.namesrv))
    wait_until(lambda: names.metric("leat_registry_watches") == 1, "it is watched")

    names.kill()
    line = agent.wait_for_log("trouble with a registry")

    assert "9876" not in line["detail"]


def frame(header, body=b""):
    return struct.pack(">II", 4 + len(header) + len(body), len(header)) + header + body


def assert_each_is_told(leat, config, option, fake, whats):
    """Of each of those who answer so, the log says what is wrong with it."""
    peers = {"127.0.0.1:%d" % fake(Blunt, said=said).port: what for said, what in whats.items()}
    config["sinks"]["out"]["discovery"][option] = list(peers)
    agent = leat(config)

    for peer, what in peers.items():
        assert what in agent.wait_for_log("trouble with a registry", peer=peer)["detail"]


def test_who_is_no_name_server_is_told_as_what_it_is(leat, fake):
    assert_each_is_told(leat, router(""), "addresses", fake, {
        b"": "that of a name server? it is 9876 unless it was told otherwise",
        b"\0\0\0\x05ab": "it hung up before it had answered",
        b"SSH-2.0-OpenSSH_9.2\r\n": "it is no registry: what it answers has no sensible length",
        b"\0\0\0\0": "it is no registry: what it answers has no sensible length",
        b"HTTP/1.1 400 Bad Request\r\n\r\n": "is one where HTTP is spoken; write the port of the name server",
        b"\0\0\0\4\0\0\0\0": "it is no name server: a header cannot be read",
        b"\0\0\0\6\0\0\0\2{}": "its answer cannot be read: an object is missing",
        frame(b'{"code":1,"flag":1,"opaque":1,"remark":"no\\n\\u001b[2J' + b"!" * 1000 + b'"}'):
            "it answered with code 1: no  [2J" + 193 * "!" + "...",
    })


@needs("libsoup")
def test_who_is_no_nsqlookupd_is_told_as_what_it_is(leat, fake):
    config = router("", type="nsqlookupd")
    del config["sinks"]["out"]["discovery"]["addresses"]

    assert_each_is_told(leat, config, "http-addresses", fake, {
        b"": "it is no nsqlookupd: ",
        b"SSH-2.0-OpenSSH_9.2\r\n": "it is no nsqlookupd: ",
        b"HTTP/1.1 404 Not Found\r\n\r\nnothing": "it speaks HTTP, but not as nsqlookupd does",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n": "it answered with HTTP status 302",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 1000: "it announces an answer again and again, and never answers",
        b"HTTP/1.1 200 OK\r\n\r\nhello": "its answer cannot be read: a value is missing",
    })
