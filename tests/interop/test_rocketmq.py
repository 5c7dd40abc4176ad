"""test_rocketmq.py - Apache RocketMQ's brokers, admin tool and clients on leat-registry and its own name server, compared."""
import json
import re

import pytest

from leat import wait_until
from rocketmq_programs import CLUSTER_NAME, START_TIMEOUT, RocketWorld


@pytest.fixture
def world(rocketmq, tmp_path):
    made = RocketWorld(tmp_path, rocketmq)
    yield made
    made.close()


def route(world, topic):
    """As mqadmin shows it, of both; it does not quote integer keys."""
    text = "".join(line.strip() for line in world.both_say("topicRoute", "-t", topic))
    return json.loads(re.sub(r"([{,])(\d+):", r'\1"\2":', text))


def queues(world, topic):
    return [(q["readQueueNums"], q["writeQueueNums"], q["perm"]) for q in route(world, topic)["queueDatas"]]


def settings(lines):
    """Of getNamesrvConfig, by name."""
    return {name.strip(): value.strip() for name, _, value in (line.partition("=") for line in lines[1:])}


def test_brokers_tools_and_clients(world):
    master = world.start_broker("master", 0)
    world.wait_for_brokers({"0": master})
    slave = world.start_broker("slave", 1)
    world.wait_for_brokers({"0": master, "1": slave})
    admin = world.driver.admin

    # The first columns; the others are of the moment.
    shown = [[line.split()[:5] for line in admin("clusterList", server)] for server in world.servers]
    assert shown[0] == shown[1]
    assert [CLUSTER_NAME, "b1", "1", slave] in [row[:4] for row in shown[0]]

    assert "success" in admin("updateTopic", world.both, "-b", master, "-t", "first", "-r", "4", "-w", "2")[0]
    assert "success" in admin("updateTopic", world.both, "-c", CLUSTER_NAME, "-w", "3", "-t", "second", "-r", "5")[0]
    assert queues(world, "first") == [(4, 2, 6)] and queues(world, "second") == [(5, 3, 6)]
    assert route(world, "first")["brokerDatas"][0]["brokerAddrs"] == {"0": master, "1": slave}
    assert "success" in admin("updateTopic", world.both, "-b", master, "-t", "first", "-w", "6", "-r", "8")[0]
    assert queues(world, "first") == [(8, 6, 6)]

    topics = [sorted(admin("topicList", server)) for server in world.servers]
    assert topics[0] == topics[1]
    assert {"first", "second", "TBW102", "b1", CLUSTER_NAME} <= set(topics[0])

    assert world.driver.ask("send", "first", 50) == ["sent 50"]
    assert world.driver.ask("receive", "first", 50) == ["received 50"]

    wiped = admin("wipeWritePerm", world.both, "-b", "b1")
    counts = {line.rpartition("OK,")[2] for line in wiped if "OK," in line}
    assert len(wiped) == 2 and len(counts) == 1 and int(counts.pop()) > 10
    assert queues(world, "first") == [(8, 6, 4)]
    assert len(admin("addWritePerm", world.both, "-b", "b1")) == 2
    assert queues(world, "first") == [(8, 6, 6)]

    for key in ("k1", "k2"):
        assert "success" in admin("updateKvConfig", world.both, "-s", "ns", "-k", key, "-v", "v=1;w")[0]
    assert "success" in admin("deleteKvConfig", world.both, "-s", "ns", "-k", "k1")[0]
    files = [json.loads((world.folder / name).read_text())["configTable"]["ns"] for name in ("leat-kv.json", "kv.json")]
    assert files == [{"k2": "v=1;w"}, {"k2": "v=1;w"}]

    # Ours has fewer of them, and waits for 0 seconds where the original does not wait for 45.
    ours, original = (settings(admin("getNamesrvConfig", server)) for server in world.servers)
    own = {"listenPort", "kvConfigPath", "bindAddress", "waitSecondsForService"}
    shared = (ours.keys() & original.keys()) - own
    assert shared and all(ours[name] == original[name] for name in shared)

    assert any("success" in line for line in admin("deleteTopic", world.both, "-c", CLUSTER_NAME, "-t", "second"))
    for server in world.servers:
        assert "second" not in admin("topicList", server)
        assert "No topic route info in name server for the topic: second" in str(admin("topicRoute", server, "-t", "second"))

    world.kill("master")
    world.wait_for_brokers({"1": slave})
    assert route(world, "first")["brokerDatas"][0]["brokerAddrs"] == {"1": slave}
    world.kill("slave")
    world.wait_for_brokers({})
    wait_until(lambda: "first" not in admin("topicList", world.ours), "the topic is gone", START_TIMEOUT)
    topics = [sorted(admin("topicList", server)) for server in world.servers]
    assert topics[0] == topics[1] == []
