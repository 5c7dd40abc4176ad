"""test_tiers.py - agents in a chain: what comes in at the edge is at the far end, in order, whatever is between."""
import socketserver
import threading

import pytest

from flume_api import ThriftFlumeEvent, Status, flume_client
from leat import BUSY, wait_until
from tiers import address, edge, numbers, relay


@pytest.mark.parametrize("sink", [{}, {"in-flight": 8, "batch-size": 100}, {"protocol": "binary"}], ids=str)
def test_two_hops_keep_order_and_lose_nothing(far_end, leat, sink):
    far = far_end()
    middle = leat(relay([far.address], {**sink, "protocol": "compact"}))
    leat(edge([address(middle)], {"count": 20000, "batch-size": 50}, sink))

    far.wait_for(20000)
    assert far.bodies == numbers(20000)


def test_headers_and_bytes_are_the_same_two_hops_on(collector, leat):
    end = collector()
    middle = leat(relay([address(end)]))
    first = leat(relay([address(middle)], {"protocol": "compact"}))
    headers = {"host": "α", "empty": "", "": "no name"}

    with flume_client(first.port("apps"), "binary") as client:
        assert client.appendBatch([ThriftFlumeEvent(headers, b"a"), ThriftFlumeEvent({}, b"")]) == Status.OK
        assert client.append(ThriftFlumeEvent({"k": "v"}, b"b" * 100000)) == Status.OK

    wait_until(lambda: len(end.records()) == 3, "three events are written")
    assert [(r["headers"], r["body"]) for r in end.records()] == [
        (headers, "a"), ({}, ""), ({"k": "v"}, "b" * 100000)]


def test_a_stop_drains_what_is_in_memory_into_the_next_tier(far_end, leat):
    far = far_end()
    agent = leat(edge([far.address], {"count": 30000, "batch-size": 100}, {"in-flight": 4, "batch-size": 100}))

    agent.wait_for_log("source has nothing more to send")
    agent.stop()

    assert far.bodies == numbers(30000)


def test_a_stop_while_the_next_tier_is_frozen_ends_in_time_and_says_what_is_lost(far_end, leat):
    far = far_end()
    agent = leat(edge([far.address], {"count": 1000, "rate": 500}, {"in-flight": 4, "batch-size": 10}, **{"shutdown-timeout": "1s"}))

    far.wait_for(100)
    far.freeze()
    agent.wait_for_log("source has nothing more to send")
    agent.stop(timeout=1 + BUSY)
    far.thaw()

    lost = agent.wait_for_log("stopped")["events_lost"]
    wait_until(lambda: len(far.bodies) >= 1000 - lost, "the rest has been written")
    assert 0 < lost < 1000


def test_batches_are_cut_by_bytes_below_the_frame_limit(far_end, leat):
    far = far_end()
    leat(edge([far.address], {"count": 40, "size": 1000000, "batch-size": 20}, {"batch-bytes": "1GiB"}))

    far.wait_for(40)
    assert [body.rstrip(".") for body in far.bodies] == numbers(40)


def test_a_sink_says_which_host_fails_in_metrics_log_and_health(far_end, leat):
    far = far_end(start=False)
    agent = leat(edge([far.address], {"count": 10}))

    agent.wait_for_log("delivery failed, backing off", sink="out")
    wait_until(lambda: agent.metric("leat_thrift_sink_host_failures_total", peer=far.address) > 0, "it is counted")
    far.start()
    far.wait_for(10)

    agent.wait_for_log("destination recovered", sink="out")
    assert agent.metric("leat_sink_connections_created_total", component="out") == 1
    assert agent.flume_metrics()["SINK.out"]["ConnectionCreatedCount"] == "1"
    assert int(agent.flume_metrics()["SINK.out"]["ConnectionFailedCount"]) > 0


def test_a_peer_that_is_no_source_is_named(leat):
    class Web(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(1000)
            self.request.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Web) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        agent = leat(edge([f"127.0.0.1:{web.server_address[1]}"], {"count": 10}, **{"shutdown-timeout": "1s"}))
        agent.wait_for_log("peer is no Thrift source", sink="out", peer=f"127.0.0.1:{web.server_address[1]}")
        assert agent.metric("leat_thrift_sink_no_source_total") > 0
        agent.stop()
        web.shutdown()
