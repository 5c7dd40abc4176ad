"""test_namesrv_tcp.py - RocketMQ's remoting protocol: requests, answers, and what hostile clients get."""
import fcntl
import pathlib
import signal
import socket
import struct
import termios
import time

import pytest

from leat import needs, wait_until
from registry import has_address_sanitizer
from remoting import Remoting

pytestmark = needs("libsoup")


def test_a_broker_registers_and_is_found(namesrv):
    made = namesrv()
    broker = Remoting(made.namesrv)

    answer = broker.register()
    assert (answer.code, answer.fields, answer.body) == (0, {}, b"")
    assert broker.route("t1").body == (
        b'{"brokerDatas":[{"brokerAddrs":{"0":"10.0.0.1:10911"},"brokerName":"b1","cluster":"c1",'
        b'"enableActingMaster":false}],"filterServerTable":{},"queueDatas":[{"brokerName":"b1","perm":6,'
        b'"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}]}')
    assert broker.ask(106).body == (
        b'{"brokerAddrTable":{"b1":{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"b1","cluster":"c1",'
        b'"enableActingMaster":false}},"clusterAddrTable":{"c1":["b1"]}}')
    assert sorted(broker.ask(206).json["topicList"]) == ["t1", "t2"]
    assert broker.unregister().code == 0
    assert broker.route("t1").code == 17


def test_an_older_client_gets_the_route_as_it_reads_it(namesrv):
    made = namesrv()
    broker, old = Remoting(made.namesrv), Remoting(made.namesrv, version=317)
    broker.register()

    route = old.route("t1").body
    assert b'"brokerAddrs":{0:"10.0.0.1:10911"}' in route and b'"topicSynFlag":0' in route
    assert b'"brokerAddrs":{"0":' in old.route("t1", acceptStandardJsonOnly="true").body


def test_a_zone_gets_its_brokers_in_the_older_form(namesrv):
    made = namesrv()
    broker = Remoting(made.namesrv)
    broker.register(__ZONE_NAME="east")
    broker.register("b2", "10.0.0.2:10911", __ZONE_NAME="west")

    route = broker.route("t1", __ZONE_MODE="true", __ZONE_NAME="EAST").body
    assert b'{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"b1"' in route and b'"b2"' not in route


def test_a_connection_that_closes_takes_its_brokers_with_it_at_once(namesrv):
    made = namesrv()
    broker, client = Remoting(made.namesrv), Remoting(made.namesrv)
    broker.register()
    broker.register("b2", "10.0.0.2:10911")

    broker.close()
    made.wait_for_log("broker left", node="10.0.0.2:10911")
    assert client.brokers("t1") == {}
    assert made.metric("leat_registry_nodes") == made.metric("leat_registry_topics") == 0


def test_one_way_requests_are_carried_out_and_not_answered(namesrv):
    made = namesrv()
    broker = Remoting(made.namesrv)

    broker.register(one_way=True)
    broker.send(9999, one_way=True)
    broker.send(105, one_way=True)
    broker.send(105, one_way=True, topic="t1", leatWait=60000, leatIndex=broker.route("t1").fields["leatIndex"])
    unasked = b'{"code":105,"flag":1,"opaque":99}'  # an answer
    broker.socket.sendall(struct.pack(">II", 4 + len(unasked), len(unasked)) + unasked)
    assert broker.brokers("t1") == {"b1": {"0": "10.0.0.1:10911"}}
    assert made.metric("leat_registry_watches") == 0


def test_requests_in_one_write_are_answered_in_turn(namesrv):
    made = namesrv()
    broker = Remoting(made.namesrv)
    broker.register()
    sent = [broker.send(105, topic="t1") for _ in range(2000)]

    assert [broker.receive().header["opaque"] for _ in sent] == sent


def test_what_is_no_request_is_answered_with_why(namesrv):
    made = namesrv()
    client = Remoting(made.namesrv)

    for code, body, fields, result, remark in [
            (9999, b"", {}, 3, " request type 9999 not supported"),
            (105, b"", {}, 17, "No topic route info in name server for the topic: null"),
            (103, b"{}", {"bodyCrc32": 5, "brokerName": "b", "brokerAddr": "a:1", "clusterName": "c", "brokerId": 0}, 1,
             "crc32 not match"),
            (104, b"", {"brokerName": "b"}, 1, "the field brokerAddr is missing"),
            (217, b"{", {"topic": "t"}, 1, None)]:
        answer = client.ask(code, body, **fields)

        assert answer.code == result and (remark is None or answer.remark == remark), answer
    assert made.metric("leat_registry_refusals_total", type="namesrv") == 3


HOSTILE = {
    "tls": b"\x16\x03\x01\x02\0\1\0\1\xfc\3\3",
    "http": b"GET / HTTP/1.1\r\n\r\n",
    "negative": b"\xff\xff\xff\xff\0\0\0\2{}",
    "too long": struct.pack(">II", 64 << 20, 2) + b"{}",
    "header longer than frame": struct.pack(">II", 6, 100) + b"{}",
    "unknown header": struct.pack(">II", 6, (7 << 24) | 2) + b"{}",
    "no json": struct.pack(">II", 6, 2) + b"[}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_speaks_something_else_is_closed(namesrv, name):
    made = namesrv()
    client = Remoting(made.namesrv)
    client.socket.sendall(HOSTILE[name])

    assert client.is_at_end()
    assert made.wait_for_log("client speaks something else")
    assert Remoting(made.namesrv).register().code == 0


def test_unfinished_requests_have_a_limit_and_leave_room_for_whole_ones(namesrv):
    made = namesrv(receive_memory="64KiB")
    begun = [Remoting(made.namesrv) for _ in range(3)]
    for client in begun:
        client.socket.sendall(struct.pack(">II", 100000, 50000) + b"{" * 40000)

    wait_until(lambda: made.metric("leat_registry_connections", type="namesrv") == 1, "one has all the room")
    assert made.wait_for_log("out of resources")["detail"] == "unfinished requests hold all of receive-memory"
    assert Remoting(made.namesrv).register().code == 0


def test_a_request_that_comes_byte_by_byte_is_one(namesrv):
    made = namesrv()
    client = Remoting(made.namesrv)
    header = b'{"code":206,"flag":0,"language":"JAVA","opaque":7,"version":479}'
    for byte in struct.pack(">II", 4 + len(header), len(header)) + header:
        client.socket.sendall(bytes([byte]))

    assert client.receive().header["opaque"] == 7


def test_one_connection_too_many_is_closed(namesrv):
    made = namesrv(max_connections=2)
    held = [Remoting(made.namesrv) for _ in range(2)]
    assert [client.ask(206).code for client in held] == [0, 0]

    assert Remoting(made.namesrv).is_at_end()
    assert made.wait_for_log("too many connections")["detail"] == "raise max-connections of the section namesrv"


def test_what_is_too_much_is_refused_and_the_rest_goes_on(namesrv):
    made = namesrv(max_registrations=5)
    broker = Remoting(made.namesrv)
    assert broker.register().code == 0
    full = broker.register("b2", "10.0.0.2:10911")
    assert (full.code, full.remark) == (2, "the registry is full")
    assert len(broker.route("\1" * 100000).remark) == 4096
    single = broker.register("b3", "10.0.0.3:10911", topics=("t1",))
    assert (single.code, single.remark) == (1, "register broker failed")
    assert broker.register("b" * 2000, "10.0.0.4:10911").remark == "a name or a list is too long"

    assert broker.register().code == 0 and broker.brokers("t1") == {"b1": {"0": "10.0.0.1:10911"}}


def test_who_has_not_read_for_longest_goes_when_room_for_answers_is_short(namesrv):
    made = namesrv(receive_memory="16MiB")
    broker, deaf = Remoting(made.namesrv), [Remoting(made.namesrv) for _ in range(10)]
    for b in range(2):
        broker.register(f"b{b}", f"10.0.0.{b}:10911", topics=[f"topic-{b}-{i:0200}" for i in range(15000)])
    for client in deaf:
        client.send(206)  # 6 MB: what the kernel does not take stays with the registry

    line = made.wait_for_log("out of resources")
    assert (line["detail"], line["peer"]) == ("answers that nobody reads", "%s:%d" % deaf[0].socket.getsockname())
    assert len(broker.ask(206).json["topicList"]) == 30000


def test_many_requests_at_once_hold_nobody_up(namesrv):
    made = namesrv()
    broker, busy = Remoting(made.namesrv), Remoting(made.namesrv)
    broker.register(topics=[f"topic-{i:05}" for i in range(30000)])
    header = b'{"code":206,"flag":2,"language":"JAVA","opaque":7,"version":479}'

    def share_of_their_time():
        started = time.monotonic()
        broker.ask(206)
        once = time.monotonic() - started
        busy.socket.sendall(200 * (struct.pack(">II", 4 + len(header), len(header)) + header))
        time.sleep(once / 2)  # until it has begun
        started = time.monotonic()
        broker.route("topic-00000")
        return (time.monotonic() - started) / once / 200

    # A machine that stops for a moment does so once; who waits for all of them does so each time.
    assert any(share_of_their_time() < 0.1 for _ in range(5)), "it waited for all of them"


def n_not_acknowledged(stream):
    """Bytes that the other side's kernel does not have yet."""
    return struct.unpack("i", fcntl.ioctl(stream, termios.TIOCOUTQ, bytes(4)))[0]


def test_what_waits_for_its_turn_may_find_no_room(namesrv):
    made = namesrv(receive_memory="512KiB")
    broker, holder, hasty = Remoting(made.namesrv), Remoting(made.namesrv), Remoting(made.namesrv)
    broker.register(topics=[f"topic-{i:04}" for i in range(2000)])
    holder.socket.sendall(struct.pack(">II", 1000000, 500000) + b"{" * 520000)
    wait_until(lambda: n_not_acknowledged(holder.socket) == 0, "all of it is there")
    for _ in range(100):  # in each of its turns it takes a piece of that
        assert broker.ask(206).code == 0
    made.signal(signal.SIGSTOP)
    wait_until(lambda: " T " in pathlib.Path(f"/proc/{made.process.pid}/stat").read_text(), "it is stopped")
    for _ in range(1000):  # it finds them all at once
        hasty.send(206)
    made.signal(signal.SIGCONT)

    assert made.wait_for_log("out of resources")
    assert broker.ask(206).code == 0


def test_who_reads_late_gets_all_its_answers(namesrv):
    made = namesrv(receive_memory="512KiB")
    client = Remoting(made.namesrv)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)  # or the kernel takes all of it
    client.register(topics=[f"topic-{i:04}" for i in range(2000)])
    sent = [client.send(206) for _ in range(1000)]  # answers of 30 MB

    assert [client.receive().header["opaque"] for _ in sent] == sent


def test_who_reads_nothing_is_not_listened_to(namesrv):
    made = namesrv()
    broker, deaf = Remoting(made.namesrv), Remoting(made.namesrv)
    broker.register(topics=[f"topic-{i:04}" for i in range(2000)])
    deaf.socket.settimeout(0.5)
    try:
        for _ in range(20000):  # answers of 30 kB each, which would be 600 MB
            deaf.send(206, padding="x" * 1000)
    except TimeoutError:
        pass
    else:
        raise AssertionError("it took all requests")
    resident = int(next(line.split()[1] for line in open(f"/proc/{made.process.pid}/status", encoding="ascii")
                        if line.startswith("VmRSS")))

    assert resident < 64 * 1024 or has_address_sanitizer()
    assert broker.ask(206).code == 0
