"""test_metrics.py - what an agent tells about itself over HTTP."""
import contextlib
import json
import re
import socket
import time

import pytest

from leat import has_address_sanitizer, needs, wait_until

pytestmark = needs("libsoup")

SOURCE_ATTRIBUTES = {
    "Type", "StartTime", "StopTime", "EventReceivedCount", "EventAcceptedCount", "AppendReceivedCount",
    "AppendAcceptedCount", "AppendBatchReceivedCount", "AppendBatchAcceptedCount", "OpenConnectionCount",
    "EventReadFail", "ChannelWriteFail", "GenericProcessingFail"}
CHANNEL_ATTRIBUTES = {
    "Type", "StartTime", "StopTime", "ChannelCapacity", "ChannelSize", "ChannelFillPercentage",
    "EventPutAttemptCount", "EventPutSuccessCount", "EventTakeAttemptCount", "EventTakeSuccessCount"}
SINK_ATTRIBUTES = {
    "Type", "StartTime", "StopTime", "ConnectionCreatedCount", "ConnectionClosedCount", "ConnectionFailedCount",
    "BatchEmptyCount", "BatchUnderflowCount", "BatchCompleteCount", "EventDrainAttemptCount",
    "EventDrainSuccessCount", "EventWriteFail", "ChannelReadFail"}

CONFIG = {
    "agent": {"name": "story <1>", "http": "127.0.0.1:0", "shutdown-timeout": "1s"},
    "sources": {"numbers": {"type": "sequence", "rate": 0, "count": 5000, "batch-size": 50,
                            "channels": ["kept", "stuck"]}},
    "channels": {"kept": {"type": "memory"}, "stuck": {"type": "memory", "capacity": 20000}},
    "sinks": {"nothing": {"type": "null", "channel": "kept"},
              "broken": {"type": "null", "channel": "stuck", "refuse": True}},
}


@pytest.fixture
def quiet(leat):
    """An agent whose source has sent its 5000 events, of which one sink has delivered all and one none."""
    agent = leat(CONFIG)
    agent.wait_for_log("source has nothing more to send")
    wait_until(lambda: agent.metric("leat_sink_events_delivered_total", component="nothing") == 5000,
               "all is delivered")
    wait_until(lambda: agent.metric("leat_channel_events", component="kept") == 0, "the channel knows of it")
    agent.wait_for_log("delivery failed, backing off")
    return agent


def test_the_books_balance_when_it_is_quiet(quiet):
    def source(name):
        return quiet.metric(f"leat_source_events_{name}_total")

    assert source("received") == source("accepted") + source("refused") == 5000
    for channel, sink in [("kept", "nothing"), ("stuck", "broken")]:
        put = quiet.metric("leat_channel_put_events_total", component=channel)
        delivered = quiet.metric("leat_sink_events_delivered_total", component=sink)
        rejected = quiet.metric("leat_sink_events_rejected_total", component=sink)
        queued = quiet.metric("leat_channel_events", component=channel)
        assert put == delivered + rejected + queued == 5000
    assert quiet.metric("leat_channel_events", component="stuck") == 5000


def test_the_json_has_exactly_the_attributes_of_flume_all_of_them_strings(quiet):
    report = quiet.flume_metrics()

    assert set(report) == {"SOURCE.numbers", "CHANNEL.kept", "CHANNEL.stuck", "SINK.nothing", "SINK.broken"}
    for key, attributes in [("SOURCE.numbers", SOURCE_ATTRIBUTES), ("CHANNEL.kept", CHANNEL_ATTRIBUTES),
                            ("SINK.nothing", SINK_ATTRIBUTES)]:
        assert set(report[key]) == attributes
        assert all(isinstance(value, str) for value in report[key].values())
        assert report[key]["Type"] == key.split(".")[0]
        assert report[key]["StopTime"] == "0" and int(report[key]["StartTime"]) > 1_600_000_000_000


def test_the_json_counts_as_flume_does(quiet):
    report = quiet.flume_metrics()

    assert report["SOURCE.numbers"]["EventReceivedCount"] == "5000"
    assert report["SOURCE.numbers"]["AppendBatchAcceptedCount"] == "100"
    assert report["CHANNEL.kept"]["EventTakeSuccessCount"] == "5000"
    assert report["CHANNEL.stuck"]["ChannelSize"] == "5000"
    assert report["CHANNEL.stuck"]["ChannelCapacity"] == "20000"
    assert report["CHANNEL.stuck"]["ChannelFillPercentage"] == "25.0"
    assert report["SINK.nothing"]["EventDrainSuccessCount"] == "5000"
    assert int(report["SINK.broken"]["EventWriteFail"]) > 0


def test_prometheus_text_names_each_family_once_and_keeps_it_together(quiet):
    reply = quiet.request("/metrics")
    assert reply.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"

    families = []
    for line in reply.text.splitlines():
        if line.startswith("# HELP "):
            families.append(line.split()[2])
            continue
        if line.startswith("# TYPE "):
            assert line.split()[2] == families[-1] and line.split()[3] in ("counter", "gauge", "histogram")
            continue
        match = re.fullmatch(r'(\w+)\{(?:\w+="[^"]*",?)*\} [0-9.]+', line)
        assert match, line
        assert re.sub(r"_(bucket|sum|count)$", "", match[1]) == families[-1] or match[1] == families[-1]
    assert len(families) == len(set(families)) > 20


def test_a_histogram_counts_every_event_of_the_channel(quiet):
    name = "leat_channel_residence_seconds"

    assert quiet.metric(f"{name}_count", component="kept") == 5000
    assert quiet.metric(f"{name}_bucket", component="kept", le="+Inf") == 5000
    assert 0 < quiet.metric(f"{name}_sum", component="kept") < 5000 * 60


def test_health_is_ok_while_running_and_503_with_the_reason_while_stopping(leat):
    agent = leat({**CONFIG, "agent": {**CONFIG["agent"], "shutdown-timeout": "60s"}})
    agent.wait_for_log("delivery failed, backing off")
    assert agent.request("/healthz")[::2] == (200, "ok\n")

    agent.signal()
    agent.wait_for_log("stopping")

    assert agent.request("/healthz")[::2] == (503, "the agent is stopping\n")
    agent.kill()


def test_pages_methods_and_paths(quiet):
    assert quiet.request("/").text.count("href") == 3
    assert "story &lt;1&gt;" in quiet.request("/").text
    assert json.loads(quiet.request("/METRICS.json").text)
    assert quiet.request("/metrics/x").status == 404
    assert quiet.request("/etc/passwd").status == 404
    assert quiet.request("/metrics", method="POST", data=b"x" * 1_000_000).status == 405
    assert quiet.request("/metrics", method="DELETE").status == 405
    assert quiet.request("/metrics", method="TRACE").status == 403
    assert quiet.request("/metrics", method="OPTIONS").status == 403
    head = quiet.request("/metrics", method="HEAD")
    assert head.status == 200 and head.text == "" and int(head.headers["Content-Length"]) > 1000


def test_http_off_opens_no_port(leat):
    agent = leat({**CONFIG, "agent": {**CONFIG["agent"], "http": "off"}})

    assert not agent.log("listening")


THRIFT_CONFIG = {
    "agent": {"http": "127.0.0.1:0"},
    "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"]}},
    "channels": {"buffer": {"type": "memory"}},
    "sinks": {"nothing": {"type": "null", "channel": "buffer"}},
}


def test_a_source_that_has_used_up_all_descriptors_is_told_over_http_until_it_works_again(leat):
    agent = leat(THRIFT_CONFIG, prefix=["prlimit", "--nofile=40:40"])
    with contextlib.ExitStack() as clients:
        for _ in range(60):
            clients.enter_context(socket.create_connection(agent.address("apps")))
        agent.wait_for_log("out of resources", source="apps")
        assert agent.n_descriptors() == 40

        for _ in range(10):
            assert agent.request("/healthz")[::2] == (
                503, "source 'apps': no descriptor is left for another connection\n")
            assert agent.metric("leat_thrift_source_incidents_total", component="apps", reason="accept-paused") >= 1

    wait_until(lambda: agent.request("/healthz")[::2] == (200, "ok\n"), "the source works again")


CLOSED = "leat_http_connections_closed_total"


def test_connections_that_never_ask_whole_give_way_to_those_that_do(leat):
    agent = leat(THRIFT_CONFIG)
    with contextlib.ExitStack() as clients:
        sockets = [clients.enter_context(socket.create_connection(agent.address("http"), timeout=10))
                   for _ in range(70)]
        for half in sockets[6:]:
            half.sendall(b"GET /metrics HTTP/1.1\r\n")

        assert [agent.request("/healthz").status for _ in range(20)] == [200] * 20
        assert sockets[0].recv(100) == b""
        assert agent.metric(CLOSED, reason="room-for-another", component="http") > 6
        assert len(agent.log("connections closed to keep room")) == 1
        line = agent.wait_for_log("connections closed to keep room", component="http", reason="room-for-another")
        assert "127.0.0.1:%d" % sockets[0].getsockname()[1] == line["peer"]

    wait_until(lambda: agent.n_descriptors() < 30, "the connections are gone")


def test_a_request_is_whole_in_time_and_its_connection_over_with_the_answer(leat):
    agent = leat(THRIFT_CONFIG)
    with contextlib.ExitStack() as clients:
        silent, half, asking = [
            clients.enter_context(socket.create_connection(agent.address("http"), timeout=20)) for _ in range(3)]
        asking.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = asking.recv(1000)
        half.sendall(b"GET /metrics HTTP/1.1\r\n")

        assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and b"\r\nConnection: close\r\n" in answer
        assert asking.recv(1000) == b""
        for late in (silent, half):
            assert b"200 OK" not in late.recv(1000)
        assert agent.metric(CLOSED, reason="slow-request") == 2


def test_clients_that_would_keep_their_connections_leave_no_descriptors(leat):
    agent = leat(THRIFT_CONFIG)
    before = agent.n_descriptors()
    for _ in range(100):
        with socket.create_connection(agent.address("http"), timeout=20) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(1000)

    wait_until(lambda: agent.n_descriptors() <= before, "all are closed")


def test_scrapes_leave_memory_and_descriptors_as_they_were(leat):
    agent = leat(THRIFT_CONFIG)
    for _ in range(50):
        agent.request("/metrics")
    before_kb = agent.status_kb("RssAnon")
    before = agent.n_descriptors()
    for _ in range(500):
        agent.request("/metrics")
        agent.request("/metrics.json")

    assert has_address_sanitizer() or agent.status_kb("RssAnon") - before_kb < 500
    wait_until(lambda: agent.n_descriptors() <= before, "the last connections are closed")


def test_requests_that_libraries_complain_of_have_a_line_now_and_then(leat):
    agent = leat(THRIFT_CONFIG)
    began = time.monotonic()
    for _ in range(40):
        with socket.create_connection(agent.address("http"), timeout=10) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n")
            assert client.recv(1000).startswith(b"HTTP/1.1 ")

    assert agent.metric("leat_library_messages_total") == 40
    assert 1 <= len(agent.log("message of a library")) <= 1 + time.monotonic() - began
