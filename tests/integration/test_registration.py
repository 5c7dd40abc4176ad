"""test_registration.py - agents announce their sources at nsqlookupd, and are found there as long as they are there."""
import json
import time

from fake_registry import FakeNsqlookupd
from flume_api import Status, ThriftFlumeEvent, flume_client
from leat import BUSY, needs, wait_until
from thrift_agent import config


def announced(*addresses, **options):
    """An agent whose source 'apps' is announced at these addresses for the topic 'collectors'."""
    whole = config()
    whole["registration"] = [{"type": "nsqlookupd", "tcp-addresses": [f"{host}:{port}" for host, port in addresses],
                              "topic": "collectors", "heartbeat": "1s", **options}]
    return whole


def producers(registry, topic="collectors"):
    """None while the registry has never heard of the topic."""
    reply = registry.ask(f"/lookup?topic={topic}")
    return json.loads(reply.text)["producers"] if reply.status == 200 else None


def wait_for_producers(registry, number, topic="collectors"):
    def found():
        listed = producers(registry, topic)
        return listed is not None and len(listed) == number and (listed or True)

    return wait_until(found, f"{number} producers of {topic}")


# ---- with leat-registry ----

@needs("libsoup")
def test_a_source_is_found_from_its_start_to_its_stop(leat, registry):
    made = registry()
    agent = leat(announced(made.tcp))
    agent.wait_for_log("registered")

    (node,) = wait_for_producers(made, 1)
    assert (node["broadcast_address"], node["tcp_port"]) == ("127.0.0.1", agent.port("apps"))
    assert node["http_port"] == agent.port("http")
    with flume_client(node["tcp_port"], host=node["broadcast_address"]) as client:
        assert client.append(ThriftFlumeEvent({}, b"found")) == Status.OK

    agent.stop()
    assert producers(made) == []
    assert made.log("unregistered", topic="collectors")
    assert len(agent.log("registered")) == len(agent.log("unregistered")) == 1


@needs("libsoup")
def test_namespaces_keep_apart_what_shares_a_registry(leat, registry):
    made = registry()
    qa, live = leat(announced(made.tcp, namespace="qa")), leat(announced(made.tcp))

    (of_qa,) = wait_for_producers(made, 1, "qa.collectors")
    (of_live,) = wait_for_producers(made, 1)

    assert (of_qa["tcp_port"], of_live["tcp_port"]) == (qa.port("apps"), live.port("apps"))


@needs("libsoup")
def test_a_registry_that_restarts_knows_the_source_within_a_heartbeat(leat, registry):
    made = registry()
    agent = leat(announced(made.tcp, heartbeat="2s"))
    wait_for_producers(made, 1)

    made.restart()
    back = time.monotonic()
    wait_for_producers(made, 1)

    assert time.monotonic() - back < 2 + BUSY
    wait_until(lambda: len(agent.log("registered")) == 2, "the agent knows it too")
    lost = agent.log("registration lost, registering anew")
    assert len(lost) == 1 and not agent.log("cannot register, trying again")
    assert agent.request("/healthz").status == 200


@needs("libsoup")
def test_a_killed_agent_leaves_at_once(leat, registry):
    made = registry()
    agent = leat(announced(made.tcp, heartbeat="60s"))
    wait_for_producers(made, 1)

    agent.kill()

    wait_for_producers(made, 0)


@needs("libsoup")
def test_one_of_two_registries_is_enough(leat, registry):
    dead, made = registry(), registry()
    address = dead.tcp
    dead.stop()
    agent = leat(announced(address, made.tcp))
    wait_for_producers(made, 1)

    peers = {"dead": "%s:%d" % address, "alive": "%s:%d" % made.tcp}
    wait_until(lambda: agent.metric("leat_registration_failures_total", peer=peers["dead"]) >= 3, "it has tried thrice")
    wait_until(lambda: agent.metric("leat_registration_registered", peer=peers["alive"]) == 1, "the agent knows it too")
    assert agent.metric("leat_registration_registered", peer=peers["dead"]) == 0
    assert agent.metric("leat_registration_failures_total", peer=peers["alive"]) == 0
    assert len(agent.log("cannot register, trying again")) == 1
    assert agent.request("/healthz").status == 200
    agent.stop()
    assert producers(made) == []


@needs("libsoup")
def test_heartbeats_keep_a_source_that_the_registry_would_forget(leat, registry):
    made = registry(inactive_producer_timeout="4s")
    agent = leat(announced(made.tcp))

    wait_until(lambda: agent.metric("leat_registration_heartbeats_total") >= 5, "more than the timeout has passed")

    assert len(producers(made)) == 1


# ---- with registries that misbehave ----

def test_a_source_unregisters_before_it_stops_accepting(leat, fake):
    sent = []

    def answer(line):
        if line == "UNREGISTER collectors":
            with flume_client(agent.port("apps")) as client:
                sent.append(client.append(ThriftFlumeEvent({}, b"late")))
        return b"OK"

    agent = leat(announced(("127.0.0.1", fake(FakeNsqlookupd, answer=answer).port)))
    agent.wait_for_log("registered")

    agent.stop()

    assert sent == [Status.OK]


def test_a_registry_that_does_not_answer_holds_up_no_stop(leat, fake):
    made = fake(FakeNsqlookupd, answer=lambda line: None if line.startswith("UNREGISTER") else b"OK")
    agent = leat(announced(("127.0.0.1", made.port)))
    agent.wait_for_log("registered")

    before = time.monotonic()
    agent.stop()

    assert time.monotonic() - before < 2 + BUSY
    assert agent.log("registration not taken back in time") and not agent.log("unregistered")


def test_a_registry_that_never_answers_holds_up_neither_start_nor_traffic_nor_stop(leat, fake):
    made = fake(FakeNsqlookupd, answer=lambda line: None)
    agent = leat(announced(("127.0.0.1", made.port)))
    made.wait_for("IDENTIFY")

    with flume_client(agent.port("apps")) as client:
        assert client.append(ThriftFlumeEvent({}, b"meanwhile")) == Status.OK
    agent.stop()

    assert not agent.log("registered")


def test_what_cannot_be_resolved_holds_up_no_stop(leat):
    agent = leat(announced(("registry.invalid", 4160)))
    agent.wait_for_log("cannot register, trying again")

    agent.stop()


def test_an_agent_without_http_tells_the_port_of_its_source(leat, fake):
    made = fake(FakeNsqlookupd)
    whole = announced(("127.0.0.1", made.port))
    whole["agent"]["http"] = "off"
    agent = leat(whole)

    made.wait_for("REGISTER collectors")

    assert made.identity["http_port"] == made.identity["tcp_port"] == agent.port("apps")


def test_what_is_advertised_is_what_is_told(leat, fake):
    made = fake(FakeNsqlookupd)
    leat(announced(("127.0.0.1", made.port), advertise="collector1.example:99"))

    made.wait_for("REGISTER collectors")

    assert (made.identity["broadcast_address"], made.identity["tcp_port"]) == ("collector1.example", 99)
