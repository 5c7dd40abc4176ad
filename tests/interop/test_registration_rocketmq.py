"""test_registration_rocketmq.py - agents are brokers of RocketMQ's own name server, as they are of leat-registry's."""
import pytest

from leat import wait_until
from remoting import Remoting
from rocketmq_programs import CLUSTER_NAME, START_TIMEOUT, RocketWorld
from thrift_agent import config


@pytest.fixture
def world(rocketmq, tmp_path):
    made = RocketWorld(tmp_path, rocketmq)
    yield made
    made.close()


def announced(world, number):
    """An agent that is a broker of the group b1 at both name servers."""
    whole = config(agent={"name": "b1"})
    whole["registration"] = [{"type": "namesrv", "addresses": world.servers, "cluster": CLUSTER_NAME, "broker-id": number,
                              "topics": [{"name": "logs", "write-queues": 2}], "namespace": "qa", "heartbeat": "1s",
                              "heartbeat-timeout": "10s"}]
    return whole


def bound(agent):
    return "%s:%d" % agent.address("apps")


def queues(server, topic):
    """(write queues, permission) of each broker; None if there is no route."""
    host, port = server.split(":")
    client = Remoting((host, int(port)))
    try:
        answer = client.route(topic)
    finally:
        client.close()
    return [(q["writeQueueNums"], q["perm"]) for q in answer.json["queueDatas"]] if answer.code == 0 else None


def test_agents_are_brokers_until_they_stop_or_die(leat, world):
    master = leat(announced(world, 0))
    world.wait_for_brokers({"0": bound(master)})
    slave = leat(announced(world, 1))
    world.wait_for_brokers({"0": bound(master), "1": bound(slave)})

    assert '"writeQueueNums":2' in "".join(world.both_say("topicRoute", "-t", "qa%logs")).replace(" ", "")
    world.both_say("wipeWritePerm", "-b", "b1")
    before = master.metric("leat_registration_heartbeats_total")
    wait_until(lambda: master.metric("leat_registration_heartbeats_total") >= before + 4, "two heartbeats at each")
    assert [queues(server, "qa%logs") for server in world.servers] == [[(2, 4)], [(2, 4)]]

    master.kill()
    world.wait_for_brokers({"1": bound(slave)})
    slave.stop()
    world.wait_for_brokers({})
    for server in world.servers:
        wait_until(lambda: queues(server, "qa%logs") is None, "the route is gone", START_TIMEOUT)
    assert len(slave.log("unregistered")) == 2
