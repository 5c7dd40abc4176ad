"""test_registration.py - agents announce themselves at NSQ's own nsqlookupd, and NSQ's own nsqadmin sees them."""
import pytest

from leat import wait_until
from nsq_programs import NsqWorld, ask
from thrift_agent import config


@pytest.fixture
def world(tmp_path, nsq_programs):
    made = NsqWorld(tmp_path, nsq_programs, True)
    made.start_registry()
    yield made
    made.stop_all()


def announced(port):
    whole = config()
    whole["registration"] = [{"type": "nsqlookupd", "tcp-addresses": [f"127.0.0.1:{port}"], "topic": "collectors",
                              "heartbeat": "1s"}]
    return whole


def producers(world):
    status, body = ask(world.http, "/lookup", topic="collectors")
    return body["producers"] if status == 200 else None


def test_an_agent_is_a_producer_while_it_runs(leat, world):
    world.start_admin()
    agent = leat(announced(world.tcp))

    (node,) = wait_until(lambda: producers(world), "the source is found")
    assert (node["broadcast_address"], node["tcp_port"], node["http_port"]) == (
        "127.0.0.1", agent.port("apps"), agent.port("http"))
    (seen,) = ask(world.admin, "/api/nodes")[1]["nodes"]
    assert seen["tcp_port"] == agent.port("apps") and seen["topics"] == [{"topic": "collectors", "tombstoned": False}]
    wait_until(lambda: agent.metric("leat_registration_heartbeats_total") >= 2, "heartbeats are answered")

    agent.stop()
    assert producers(world) == []


def test_an_nsqlookupd_that_restarts_is_told_again(leat, world):
    agent = leat(announced(world.tcp))
    wait_until(lambda: producers(world), "the source is found")

    world.stop("registry")
    world.start_registry()

    wait_until(lambda: producers(world), "the source is found again")
    assert len(agent.log("registration lost, registering anew")) == 1


def test_an_agent_that_is_killed_is_gone(leat, world):
    agent = leat(announced(world.tcp))
    wait_until(lambda: producers(world), "the source is found")

    agent.kill()

    wait_until(lambda: producers(world) == [], "it is gone")


def test_its_http_port_is_told_from_its_tcp_port(leat, world):
    agent = leat(announced(world.http))

    warning = agent.wait_for_log("cannot register, trying again")

    assert "it speaks HTTP; write the address of its TCP port" in warning["error"]
