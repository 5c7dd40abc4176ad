"""test_namesrv_requests.py - what single requests of RocketMQ's do and do not, over the wire."""
import json
import struct
import zlib

from leat import needs, wait_until
from registry import has_address_sanitizer
from remoting import Remoting, topic_config

pytestmark = needs("libsoup")
WHO = {"brokerName": "b1", "brokerAddr": "10.0.0.1:10911", "clusterName": "c1"}
VERSION = json.dumps({"counter": 1, "stateVersion": 0, "timestamp": 1700000000000}).encode()


def queues(client, topic):
    return [(q["readQueueNums"], q["writeQueueNums"], q["perm"]) for q in client.route(topic).json["queueDatas"]]


def test_look_ups_create_nothing(namesrv):
    client = Remoting(namesrv().namesrv)
    for code, fields in [(105, {"topic": "t"}), (105, {"topic": "TBW102"}), (106, {}), (101, {"namespace": "n", "key": "k"}),
                         (219, {"namespace": "n"}), (224, {"cluster": "c1"}), (304, {}), (319, {}), (322, {**WHO, "brokerId": 0}),
                         (901, WHO), (904, WHO), (205, {"brokerName": "b1"}), (327, {"brokerName": "b1"}),
                         (102, {"namespace": "n", "key": "k"}), (104, {**WHO, "brokerId": 0})]:
        client.ask(code, VERSION, **fields)

    assert client.ask(106).json == {"brokerAddrTable": {}, "clusterAddrTable": {}}
    assert client.ask(206).json == {"topicList": []}
    assert client.ask(219, namespace="n").code == 22


def test_permissions_and_topics_are_changed_by_hand(namesrv):
    client = Remoting(namesrv().namesrv)
    client.register()
    assert client.ask(205, brokerName="b1").fields["wipeTopicCount"] == "2" and queues(client, "t1") == [(8, 8, 4)]
    assert client.ask(205, brokerName="b1").fields["wipeTopicCount"] == "2"  # wiped already
    assert client.ask(205, brokerName="none").fields["wipeTopicCount"] == "0"
    assert client.ask(327, brokerName="b1").fields["addTopicCount"] == "2" and queues(client, "t1") == [(8, 8, 6)]

    body = json.dumps({"queueDatas": [{"brokerName": "b1", "perm": 6, "readQueueNums": 3, "writeQueueNums": 2}]}).encode()
    assert client.ask(217, body, topic="made").code == 0 and queues(client, "made") == [(3, 2, 6)]
    assert client.ask(217, body.replace(b"b1", b"b9"), topic="unmade").code == 0 and client.route("unmade").code == 17
    assert client.ask(216, topic="made", clusterName="c9").code == 0 and client.route("made").code == 0
    assert client.ask(216, topic="made", clusterName="c1").code == 0 and client.route("made").code == 17
    assert client.ask(216, topic="t1").code == 0 and client.route("t1").code == 17
    client.register()
    assert client.route("t1").code == 0  # its broker still has it


def test_who_unregisters_is_told_by_its_address_whatever_id_it_gives(namesrv):
    client = Remoting(namesrv().namesrv)
    client.register()
    client.register(address="10.0.0.2:10911", brokerId=1)

    assert client.unregister(brokerId=1).code == 0
    assert client.brokers("t1") == {"b1": {"1": "10.0.0.2:10911"}}
    assert client.unregister(brokerId=1).code == 0  # twice is once


def test_a_one_way_query_of_a_version_is_a_heartbeat(namesrv):
    made = namesrv(scan_interval="10ms")
    broker, client = Remoting(made.namesrv), Remoting(made.namesrv)
    broker.register(heartbeatTimeoutMillis=1000)
    broker.register("b2", "10.0.0.2:10911", heartbeatTimeoutMillis=3000)

    def beat():
        client.send(322, VERSION, one_way=True, brokerId=0, **WHO)
        return made.log("broker expired", node="10.0.0.2:10911")

    wait_until(beat, "one that is silent has expired, and its connection with it")
    assert not made.log("broker expired", node="10.0.0.1:10911")


def test_a_zone_is_told_its_own_brokers(namesrv):
    client = Remoting(namesrv().namesrv)
    client.register("b1", "10.0.0.1:10911", __ZONE_NAME="east")
    client.register("b2", "10.0.0.2:10911", __ZONE_NAME="west")

    assert set(client.brokers("t1")) == {"b1", "b2"}
    east = client.route("t1", __ZONE_MODE="true", __ZONE_NAME="EAST").json
    assert [data["brokerName"] for data in east["brokerDatas"]] == ["b1"]
    assert [data["brokerName"] for data in east["queueDatas"]] == ["b1"]


def packed(code, opaque, body=b"", **fields):
    """A request whose header is in RocketMQ's binary form."""
    ext = b"".join(struct.pack(">h", len(name)) + name.encode() + struct.pack(">i", len(value)) + value.encode()
                   for name, value in fields.items())
    header = struct.pack(">hbhiii", code, 0, 479, opaque, 0, 0) + struct.pack(">i", len(ext)) + ext
    return struct.pack(">II", 4 + len(header) + len(body), 1 << 24 | len(header)) + header + body


def test_binary_headers_and_compressed_bodies_are_read_and_answered_in_json(namesrv):
    client = Remoting(namesrv().namesrv)
    texts = [VERSION, None, b"t1 8 4 6 SINGLE_TAG {}", b"t2 8 4 6 SINGLE_TAG {}", b"[]"]
    plain = b"".join(struct.pack(">i", 2) if text is None else struct.pack(">i", len(text)) + text for text in texts)
    body = zlib.compress(plain + struct.pack(">i", 0))
    client.socket.sendall(packed(103, 77, body, brokerId="0", compressed="false", haServerAddr="10.0.0.1:10912",
                                 bodyCrc32=str(zlib.crc32(body) & 0x7FFFFFFF), **WHO))
    answer = client.receive()

    assert (answer.code, answer.header["opaque"]) == (0, 77)
    assert queues(client, "t1") == queues(client, "t2") == [(8, 4, 6)]


def test_a_compressed_body_that_swells_is_refused_and_costs_no_memory(namesrv):
    made = namesrv()
    client = Remoting(made.namesrv)
    client.ask(206)
    before_kb = made.status_kb("VmHWM")
    deflate = zlib.compressobj()
    bomb = b"".join([*(deflate.compress(bytes(1 << 20)) for _ in range(256)), deflate.flush()])
    for _ in range(5):
        answer = client.ask(103, bomb, brokerId=0, compressed="true", **WHO)
        assert answer.code == 1, answer

    assert client.ask(106).json["brokerAddrTable"] == {}
    assert has_address_sanitizer() or made.status_kb("VmHWM") - before_kb < 128 * 1024  # of 256 MiB


def test_a_topic_that_is_ordered_is_told_to_its_broker_and_with_its_route(namesrv):
    client = Remoting(namesrv(order_topics=True).namesrv)
    client.register()
    before = client.route("t1")
    assert "orderTopicConf" not in before.json
    waiting = client.send(105, topic="t1", leatWait=60000, leatIndex=before.fields["leatIndex"])
    put = client.send(100, namespace="ORDER_TOPIC_CONFIG", key="t1", value="b1:8")

    answers = {answer.header["opaque"]: answer for answer in (client.receive(), client.receive())}
    assert answers[put].code == 0 and answers[waiting].json["orderTopicConf"] == "b1:8"
    assert client.register(topics=("t1", "t2")).json == {"table": {"t1": "b1:8"}}


def test_topics_that_nobody_may_write_are_listed_and_a_template_is_marked(namesrv):
    made = namesrv()
    client = Remoting(made.namesrv)
    body = json.dumps({"topicConfigSerializeWrapper": {"dataVersion": {"counter": 1, "timestamp": 1}, "topicConfigTable": {
        "TBW102": topic_config("TBW102", perm=7), "t": topic_config("t", perm=4)}}}).encode()
    for _ in range(3):
        assert client.ask(103, body, brokerId=0, **WHO).code == 0

    assert len(made.log("topics create themselves, TBW102 can be written")) == 1
    assert made.metric("leat_registry_events_total", event="auto-create") == 1
    assert queues(client, "t") == [(8, 8, 4)]
