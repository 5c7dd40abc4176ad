"""test_discovery_nsq.py - edges and `leat lookup` at NSQ's own nsqlookupd, which has no watch and no epoch."""
import pytest

from nsq_programs import NsqWorld
from test_discovery import TOPIC, Collector, finder, n_hosts
from test_lookup import look_up, run
from tiers import wait_for_more

GRACE = 45  # seconds that a host stays which such a registry no longer names


@pytest.fixture
def world(tmp_path, nsq_programs):
    made = NsqWorld(tmp_path, nsq_programs, True)
    made.start_registry()
    made.address = f"127.0.0.1:{made.http}"
    yield made
    made.stop_all()


@pytest.fixture
def collect(tmp_path, world):
    """A function that starts a Collector, known to nsqlookupd."""
    made = []

    def make():
        made.append(Collector(tmp_path / f"collector-{len(made)}"))
        made[-1].announce(("127.0.0.1", world.tcp))
        return made[-1]

    yield make
    for each in made:
        each.close()
        each.leave()


def test_an_edge_follows_collectors_that_register_and_leave(collect, leat, world):
    first = collect()
    agent = leat(finder([world.address], **{"poll-interval": "200ms"}))
    first.wait_for(10)

    second = collect()
    second.wait_for(10)
    assert n_hosts(agent) == 2

    first.kill()
    wait_for_more([second], 200)
    assert agent.wait_for_log("host left", timeout=GRACE + 15, peer=first.address)
    assert n_hosts(agent) == 1
    wait_for_more([second], 100)


def test_its_nodes_and_topics_are_shown(collect, world):
    far = collect()
    host, port = far.address.split(":")

    everything = look_up(world.address)
    assert everything["type"] == "nsqlookupd"
    assert everything["topics"] == [{"topic": TOPIC}]
    (node,) = everything["nodes"]
    assert (node["address"], node["topics"]) == (far.address, [{"topic": TOPIC, "tombstoned": False}])
    assert [n["address"] for n in look_up(world.address, TOPIC)["nodes"]] == [far.address]

    table = run("lookup", world.address, TOPIC).stdout.splitlines()
    assert table[0].split() == ["address", "http", "port", "host", "version"]
    assert table[1].split()[:2] == [f"{host}:{port}", port]
    assert run("lookup", world.address, "nothing").returncode == 1
