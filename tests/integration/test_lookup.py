"""test_lookup.py - `leat lookup` and `leat route` at registries that agents have announced themselves to."""
import json
import subprocess
import threading
import time

import pytest

from fake_registry import Blunt
from leat import BUSY, TIMEOUT, needs, program, wait_until
from registry import Node
from remoting import Remoting
from test_discovery import TOPIC, http_address
from test_discovery_routes import frame, router

pytestmark = needs("libsoup")


def run(*arguments):
    return subprocess.run([program(), *arguments], capture_output=True, text=True, timeout=TIMEOUT, check=False)


def look_up(*arguments):
    done = run("lookup", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def broker(name, server, folder, **changes):
    """An agent that is a broker of TOPIC."""
    return {
        "agent": {"name": name, "http": "127.0.0.1:0"},
        "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory"}},
        "sinks": {"files": {"type": "file", "channel": "buffer", "directory": str(folder), "format": "json"}},
        "registration": [{"type": "namesrv", "addresses": [server], "topics": [{"name": TOPIC}], "heartbeat": "1s", **changes}],
    }


@pytest.fixture
def brokers(leat, namesrv, tmp_path):
    """A name server, its address, and a function that starts a broker whose n_accepted() is the number of events it got."""
    names = namesrv()
    address = "%s:%d" % names.namesrv

    def make(name, **changes):
        folder = tmp_path / name
        folder.mkdir()
        agent = leat(broker(name, address, folder, **changes))
        agent.n_accepted = lambda: agent.metric("leat_source_events_accepted_total")
        wait_until(lambda: any(b["broker"] == name for b in look_up(address)["brokers"]), f"{name} is registered")
        return agent

    return address, make


def more(agent, n_events):
    before = agent.n_accepted()
    wait_until(lambda: agent.n_accepted() >= before + n_events, f"{n_events} more events are there")


# ---- nsqlookupd ----


def test_nodes_and_topics_of_an_nsqlookupd_are_shown(registry):
    names = registry()
    node = Node(names.tcp, broadcast_address="10.0.0.1")
    node.identify()
    node.register("t", "c").register("old")
    names.post("/topic/tombstone", topic="old", node="10.0.0.1:4151")

    everything = look_up(http_address(names))
    assert (everything["registry"], everything["type"]) == (http_address(names), "nsqlookupd")
    assert everything["topics"] == [{"topic": "old"}, {"topic": "t"}]
    (shown,) = everything["nodes"]
    assert (shown["address"], shown["http_port"], shown["host"]) == ("10.0.0.1:4150", 4151, "node1")
    assert sorted(shown["topics"], key=lambda t: t["topic"]) == [{"topic": "old", "tombstoned": True}, {"topic": "t", "tombstoned": False}]
    assert "old (tombstoned)" in run("lookup", http_address(names)).stdout
    assert [n["address"] for n in look_up(http_address(names), "t")["nodes"]] == ["10.0.0.1:4150"]
    table = run("lookup", http_address(names), "t").stdout.splitlines()
    assert table[0].split() == ["address", "http", "port", "host", "version"]
    assert table[1].split() == ["10.0.0.1:4150", "4151", "node1", "1.3.0"]


def test_a_long_table_is_no_long_wait(registry):
    names = registry()
    node = Node(names.tcp)
    node.identify()
    node.send(b"".join(b"REGISTER topic-%05d-%s\n" % (n, b"x" * 50) for n in range(20000)))
    assert node.read(20000 * 6) == 20000 * b"\0\0\0\2OK"

    started = time.monotonic()
    lines = run("lookup", http_address(names)).stdout.splitlines()

    assert sum("topic-" in line for line in lines) >= 20000
    assert time.monotonic() - started < 2 + BUSY


def test_a_namespace_stands_before_the_topic(registry):
    names = registry()
    node = Node(names.tcp)
    node.identify()
    node.register("qa.t")

    assert len(look_up("--namespace", "qa", http_address(names), "t")["nodes"]) == 1


@pytest.fixture
def watch():
    """A function that starts a watch. It ends in any case, so that nobody waits for what it never shows."""
    watches = []

    def start(*arguments):
        shown = subprocess.Popen([program(), "lookup", "--watch", "--json", *arguments], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        watches.append((shown, threading.Timer(TIMEOUT, shown.kill)))
        watches[-1][1].start()
        return shown

    yield start
    for shown, timer in watches:
        timer.cancel()
        shown.kill()
        shown.communicate()


def test_a_watch_shows_each_change(registry, watch):
    names = registry()
    names.post("/topic/create", topic="t")
    shown = watch(http_address(names), "t")

    assert json.loads(shown.stdout.readline())["nodes"] == []
    node = Node(names.tcp)
    node.identify()
    node.register("t")
    assert len(json.loads(shown.stdout.readline())["nodes"]) == 1
    node.socket.close()
    assert json.loads(shown.stdout.readline())["nodes"] == []


def test_a_watch_says_when_a_registry_is_gone_and_when_it_is_back(registry, watch):
    names = registry()
    address = http_address(names)
    shown = watch(address)
    assert json.loads(shown.stdout.readline())["nodes"] == []

    said = []
    names.restart(meanwhile=lambda: said.append(shown.stderr.readline()))

    assert said[0].startswith(f"leat lookup: {address}: ") and "again" not in said[0]
    assert any(line == f"leat lookup: {address}: it answers again\n" for line in shown.stderr)


def test_what_is_no_registry_or_another_port_of_one_is_said(registry, collector):
    names = registry(http="127.0.0.1:0")

    for address, arguments, what in [
        ("%s:%d" % names.tcp, [], "nsqlookupd's for TCP"),
        (http_address(names), ["t"], "it knows no such topic"),
        ("%s:%d" % names.address("http"), [], "is that the port of leat-registry's page?"),
        ("%s:%d" % names.address("http"), ["t"], "which is 4161 unless it was told otherwise"),
        ("127.0.0.1:1", [], "Connection refused"),
        ("%s:%d" % collector().address("apps"), [], "hung up"),
    ]:
        done = run("lookup", address, *arguments)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.startswith(f"leat lookup: {address}: ") and what in done.stderr
        assert done.stderr.count("\n") == 1


# ---- namesrv ----


def test_brokers_and_routes_of_a_namesrv_are_shown(brokers):
    address, make = brokers
    agent = make("one", topics=[{"name": TOPIC, "read-queues": 8, "write-queues": 6}])

    everything = look_up(address)
    listen = f"127.0.0.1:{agent.port('apps')}"
    assert everything["type"] == "namesrv"
    assert [(b["broker"], b["id"], b["address"]) for b in everything["brokers"]] == [("one", 0, listen)]
    assert {"topic": TOPIC} in everything["topics"]
    assert look_up(address, TOPIC)["queues"] == [
        {"broker": "one", "addresses": [{"address": listen, "id": 0}], "perm": "rw", "read_queues": 8, "write_queues": 6}]
    assert run("lookup", address, "nothing").returncode == 1


def test_the_nodes_of_a_broker_are_a_list(namesrv):
    names = namesrv()
    master, slave = Remoting(names.namesrv), Remoting(names.namesrv)
    master.register(address="10.0.0.1:10911")
    slave.register(address="10.0.0.2:10911", brokerId=1)
    address = "%s:%d" % names.namesrv

    (queues,) = look_up(address, "t1")["queues"]
    assert queues["addresses"] == [{"address": "10.0.0.1:10911", "id": 0}, {"address": "10.0.0.2:10911", "id": 1}]
    assert "10.0.0.1:10911, 10.0.0.2:10911 (1)" in run("lookup", address, "t1").stdout


def test_a_broker_is_drained_before_its_maintenance_and_gets_its_share_afterwards(brokers, leat):
    address, make = brokers
    first, second = make("one"), make("two")
    edge = leat(router(address))
    more(first, 20)

    done = run("route", "wipe-write", "one", "--at", address)
    assert done.returncode == 0 and "of 'one' without write permission" in done.stdout, done.stderr
    edge.wait_for_log("host left", peer=f"127.0.0.1:{first.port('apps')}")
    more(second, 50)
    n_drained = first.n_accepted()
    more(second, 100)
    assert first.n_accepted() == n_drained
    assert {q["broker"]: q["perm"] for q in look_up(address, TOPIC)["queues"]} == {"one": "r", "two": "rw"}

    assert run("route", "restore-write", "one", "--at", address).returncode == 0
    more(first, 20)


def test_a_broker_that_is_killed_is_left_at_once(brokers, leat):
    address, make = brokers
    first, second = make("one"), make("two")
    edge = leat(router(address, **{"poll-interval": "1h"}))
    more(first, 20)

    killed = time.monotonic()
    first.kill()
    edge.wait_for_log("host left", peer=f"127.0.0.1:{first.port('apps')}")

    assert time.monotonic() - killed < 0.1 + BUSY
    more(second, 100)


def test_a_long_route_is_no_long_wait(fake):
    queue = {"perm": 6, "readQueueNums": 4, "writeQueueNums": 4, "topicSysFlag": 0}
    names = [f"broker-{n}" for n in range(50000)]
    route = json.dumps({"brokerDatas": [{"brokerAddrs": {"0": "127.0.0.1:1"}, "brokerName": n, "cluster": "c"} for n in names],
                        "filterServerTable": {}, "queueDatas": [{"brokerName": n, **queue} for n in names]}).encode()
    registry = "127.0.0.1:%d" % fake(Blunt, said=frame(b'{"code":0,"flag":1,"opaque":1}', route)).port

    started = time.monotonic()
    assert run("lookup", registry, TOPIC).stdout.count("127.0.0.1:1") == 50000
    assert time.monotonic() - started < 2 + BUSY


def test_queues_of_a_topic_are_resized(brokers):
    address, make = brokers
    make("one")

    done = run("route", "set", "one", TOPIC, "--write", "2", "--at", address)
    assert (done.returncode, done.stdout) == (0, f"{address}: '{TOPIC}' of 'one' has 4 read and 2 write queues, perm rw\n")
    assert run("route", "set", "one", TOPIC, "--read", "2", "--perm", "r", "--at", address).returncode == 0
    assert [(q["perm"], q["read_queues"], q["write_queues"]) for q in look_up(address, TOPIC)["queues"]] == [("r", 2, 2)]


@pytest.mark.parametrize("arguments, what", [
    (["wipe-write", "none"], "it knows no topic of a broker 'none'"),
    (["set", "one", "new", "--write", "1"], "to make it, give --read, --write and --perm"),
    (["set", "none", "new", "--write", "1", "--read", "1", "--perm", "rw"], "it did not take that"),
])
def test_what_a_name_server_does_not_do_is_said(brokers, arguments, what):
    address, make = brokers
    make("one")

    done = run("route", *arguments, "--at", f"{address},127.0.0.1:1")

    assert done.returncode == 1
    assert f"leat route: {address}: " in done.stderr and what in done.stderr
    assert "leat route: 127.0.0.1:1: " in done.stderr


def test_a_look_up_is_no_trouble_for_a_registry(registry, namesrv):
    names, brokers_of = registry(), namesrv()

    look_up(http_address(names))
    look_up("%s:%d" % brokers_of.namesrv)

    assert not names.log(level="warning") and not brokers_of.log(level="warning")


def test_the_ports_of_an_nsqlookupd_are_told_from_that_of_a_name_server_at_once(registry):
    names = registry()

    for address, what in [(http_address(names), "one where HTTP is spoken"), ("%s:%d" % names.tcp, "nsqlookupd's for TCP")]:
        before = time.monotonic()
        done = run("route", "wipe-write", "one", "--at", address)

        assert time.monotonic() - before < 0.9 + BUSY  # a name server that is silent is waited for for 5 s
        assert done.returncode == 1
        assert done.stderr == (f"leat route: {address}: port {address.rsplit(':', 1)[1]} is {what}; write the port of the name "
                               "server, which is 9876 unless it was told otherwise\n")


@pytest.mark.parametrize("arguments, problem", [
    (["lookup"], "ADDRESS is missing"),
    (["lookup", "a:1", "t", "u"], "'u' is one too many"),
    (["lookup", "a"], "'a' "),
    (["lookup", ":1"], "':1' has no host to connect to"),
    (["lookup", "a:1", "--namespace", "qa"], "--namespace goes with a TOPIC"),
    (["route"], "what to do is missing"),
    (["route", "wipe"], "'wipe' is none of wipe-write"),
    (["route", "wipe-write"], "takes BROKER"),
    (["route", "wipe-write", "b", "--write", "4"], "--write goes with set"),
    (["route", "wipe-write", "b", "--perm", "r"], "--perm goes with set"),
    (["route", "restore-write", "b", "--read", "4"], "--read goes with set"),
    (["route", "restore-write", "b", "--namespace", "qa"], "--namespace goes with set"),
    (["route", "set", "b", "t"], "nothing to set"),
    (["route", "set", "b", "t", "--write", "x"], "--write: 'x' "),
    (["route", "set", "b", "t", "--perm", "x"], "--perm: 'x' is none"),
    (["route", "wipe-write", "b", "--at", "a"], "--at: 'a' "),
])
def test_commands_that_are_wrong_are_one_line_and_exit_2(arguments, problem):
    done = run(*arguments)

    assert done.returncode == 2
    assert problem in done.stderr and done.stderr.count("\n") == 1
