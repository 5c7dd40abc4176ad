"""test_registration_namesrv.py - agents announce their sources at RocketMQ's kind of registry, as brokers do."""
import signal
import time

from fake_registry import FakeNamesrv
from leat import BUSY, needs, wait_until
from remoting import Remoting
from thrift_agent import config

WIPE_WRITE_PERM = 205


def announced(*addresses, name="story", **options):
    """An agent that is a broker of its own name with the topic 'logs'."""
    whole = config(agent={"name": name})
    whole["registration"] = [{"type": "namesrv", "addresses": [f"{host}:{port}" for host, port in addresses],
                              "topics": [{"name": "logs"}], "heartbeat": "1s", **options}]
    return whole


def bound(agent):
    return "%s:%d" % agent.address("apps")


def brokers(registry, topic="logs"):
    client = Remoting(registry.namesrv)
    try:
        return client.brokers(topic)
    finally:
        client.close()


# ---- with leat-registry ----

@needs("libsoup")
def test_a_source_is_a_broker_from_its_start_to_its_stop(leat, namesrv):
    made = namesrv()
    agent = leat(announced(made.namesrv))
    agent.wait_for_log("registered")

    assert brokers(made) == {"story": {"0": bound(agent)}}
    agent.stop()

    assert brokers(made) == {}
    assert len(agent.log("registered")) == len(agent.log("unregistered")) == 1


@needs("libsoup")
def test_a_registry_that_restarts_knows_the_source_within_a_heartbeat(leat, namesrv):
    made = namesrv()
    agent = leat(announced(made.namesrv, heartbeat="2s"))
    agent.wait_for_log("registered")

    made.stop()
    made = namesrv(listen="%s:%d" % made.namesrv)
    back = time.monotonic()
    wait_until(lambda: brokers(made) == {"story": {"0": bound(agent)}}, "the source is found again")

    assert time.monotonic() - back < 2 + BUSY
    assert len(agent.log("registration lost, registering anew")) == 1


@needs("libsoup")
def test_a_killed_agent_leaves_at_once_and_its_substitute_stays(leat, namesrv):
    made = namesrv()
    master = leat(announced(made.namesrv, heartbeat="60s"))
    slave = leat(announced(made.namesrv, heartbeat="60s", **{"broker-id": 1}))
    wait_until(lambda: brokers(made) == {"story": {"0": bound(master), "1": bound(slave)}}, "both are there")

    master.kill()

    wait_until(lambda: brokers(made) == {"story": {"1": bound(slave)}}, "the master is gone")


@needs("libsoup")
def test_a_frozen_agent_is_passed_over_after_its_own_timeout_and_comes_back(leat, namesrv):
    made = namesrv(scan_interval="1s")
    agent = leat(announced(made.namesrv, **{"heartbeat-timeout": "2s"}))
    agent.wait_for_log("registered")

    agent.signal(signal.SIGSTOP)
    wait_until(lambda: brokers(made) == {}, "the registry has forgotten it")
    agent.signal(signal.SIGCONT)

    wait_until(lambda: brokers(made), "it is there again")


@needs("libsoup")
def test_what_is_changed_at_the_registry_outlives_heartbeats(leat, namesrv):
    made = namesrv()
    agent = leat(announced(made.namesrv))
    agent.wait_for_log("registered")
    client = Remoting(made.namesrv)

    assert client.ask(WIPE_WRITE_PERM, brokerName="story").fields["wipeTopicCount"] == "3"
    before = agent.metric("leat_registration_heartbeats_total")
    wait_until(lambda: agent.metric("leat_registration_heartbeats_total") >= before + 2, "two heartbeats have passed")

    (queue,) = client.route("logs").json["queueDatas"]
    assert (queue["perm"], queue["writeQueueNums"]) == (4, 4)


# ---- with one that says what the story wants ----

def test_a_name_server_is_told_of_a_broker_again_and_again(leat, fake):
    made = fake(FakeNamesrv)
    agent = leat(announced(("127.0.0.1", made.port), cluster="west", namespace="qa"))

    first, second = made.wait_for(FakeNamesrv.REGISTER, 2)
    agent.stop()

    _, fields, body = first
    address = f"127.0.0.1:{agent.port('apps')}"
    assert (fields["brokerName"], fields["clusterName"], fields["brokerId"]) == ("story", "west", "0")
    assert fields["brokerAddr"] == address and fields["heartbeatTimeoutMillis"] == "3000"
    topics = body["topicConfigSerializeWrapper"]["topicConfigTable"]
    assert set(topics) == {"qa%logs", "west", "story"}
    assert [topics["qa%logs"][key] for key in ("readQueueNums", "writeQueueNums", "perm")] == [4, 4, 6]
    assert second == first
    (farewell,) = made.of(FakeNamesrv.UNREGISTER)
    assert farewell == (104, {"brokerName": "story", "clusterName": "west", "brokerId": "0", "brokerAddr": address}, None)
    assert agent.log("unregistered")


def test_a_name_server_that_refuses_is_asked_again(leat, fake):
    answers = [1, 1, 0]
    made = fake(FakeNamesrv, answer=lambda code: answers.pop(0) if answers else 0)
    agent = leat(announced(("127.0.0.1", made.port)))

    agent.wait_for_log("registered")

    (warning,) = agent.log("cannot register, trying again")
    assert warning["error"] == "it answers 1: without a reason"
    assert agent.log("registered")[0]["failures"] == 2
