"""test_discovery_rocketmq.py - an edge that finds collectors through RocketMQ's own name server, which has no watch."""
import pytest

from remoting import Remoting
from rocketmq_programs import NamesrvPair
from test_discovery import TOPIC, n_hosts
from test_discovery_routes import router
from test_lookup import look_up, run
from tiers import wait_for_more

WIPE_WRITE_PERM, ADD_WRITE_PERM = 205, 327


@pytest.fixture
def original(rocketmq_5, tmp_path):
    folder = tmp_path / "pair"
    folder.mkdir()
    pair = NamesrvPair(folder, rocketmq_5)
    yield pair
    pair.close()


def test_an_edge_follows_what_the_original_says(far_end, leat, original):
    address, name = original.addresses[1], original.servers[1]
    ends = {"a": far_end("a"), "b": far_end("b")}
    brokers = {broker: Remoting(address) for broker in ends}
    admin = Remoting(address)
    agent = leat(router(name))
    for broker, end in ends.items():
        assert brokers[broker].register(broker, end.address, (TOPIC, broker)).code == 0
    for end in ends.values():
        end.wait_for(10)

    assert admin.ask(WIPE_WRITE_PERM, brokerName="a").code == 0
    agent.wait_for_log("host left", peer=ends["a"].address)
    n_drained = len(ends["a"].bodies)
    wait_for_more([ends["b"]], 100)
    assert len(ends["a"].bodies) == n_drained

    assert admin.ask(ADD_WRITE_PERM, brokerName="a").code == 0
    wait_for_more([ends["a"]], 10)
    assert n_hosts(agent) == 2


def test_its_brokers_are_shown_drained_and_resized(original):
    address, name = original.addresses[1], original.servers[1]
    broker = Remoting(address)
    assert broker.register("a", "10.0.0.1:10911", (TOPIC, "a")).code == 0

    everything = look_up(name)
    assert everything["type"] == "namesrv"
    assert [(b["broker"], b["id"], b["address"]) for b in everything["brokers"]] == [("a", 0, "10.0.0.1:10911")]
    assert {"topic": TOPIC} in everything["topics"]
    assert "10.0.0.1:10911" in run("lookup", name, TOPIC).stdout

    assert run("route", "wipe-write", "a", "--at", name).returncode == 0
    assert look_up(name, TOPIC)["queues"][0]["perm"] == "r"
    assert run("route", "restore-write", "a", "--at", name).returncode == 0
    assert run("route", "set", "a", TOPIC, "--write", "2", "--at", name).returncode == 0

    (queues,) = look_up(name, TOPIC)["queues"]
    assert (queues["broker"], queues["perm"], queues["write_queues"]) == ("a", "rw", 2)
