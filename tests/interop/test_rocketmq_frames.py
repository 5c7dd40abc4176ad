"""test_rocketmq_frames.py - the same requests to leat-registry and to RocketMQ's name server, frame by frame."""
import json
import re
import zlib

import pytest

from leat import wait_until
from remoting import REGISTER, ROUTE, UNREGISTER, Remoting, topic_config
from rocketmq_programs import NamesrvPair

MASTER, SLAVE, OTHER = "10.0.0.1:10911", "10.0.0.2:10911", "10.0.0.3:10911"
TOPICS = {"plain": 0, "unit": 1, "sub": 2, "both": 3}
VERSION = b'{"counter":%d,"stateVersion":0,"timestamp":1700000000000}'


@pytest.fixture
def pair(rocketmq_5, tmp_path):
    made = NamesrvPair(tmp_path, rocketmq_5)
    yield made
    made.close()


def broker(name="b", address=MASTER, number=0, **fields):
    return {"brokerName": name, "brokerAddr": address, "clusterName": "c", "haServerAddr": address.replace("911", "912"),
            "brokerId": number, **fields}


def body(topics, counter=1, filters=()):
    return json.dumps({"filterServerList": list(filters), "topicConfigSerializeWrapper": {
        "dataVersion": {"counter": counter, "stateVersion": 0, "timestamp": 1700000000000},
        "topicConfigTable": {name: topic_config(name, topicSysFlag=flag) for name, flag in topics.items()}}},
        separators=(",", ":")).encode()


def packed(topics):
    """A body as brokers compress it."""
    def texts(*them):
        return b"".join(len(text).to_bytes(4, "big") + text for text in them)

    lines = [f"{name} 8 4 6 SINGLE_TAG {{}}".encode() for name in topics]
    return zlib.compress(texts(VERSION % 1) + len(lines).to_bytes(4, "big") + texts(*lines) + texts(b"[]") + bytes(4))


def said(answer):
    """What must be the same: code, fields, and the body to the byte but for the order of what is a set; not how errors are worded."""
    text = answer.body.decode()
    text = re.sub(r'"topicList":\[([^\]]*)\]', lambda match: ",".join(sorted(match[1].split(","))), text)
    if "clusterAddrTable" in text:
        tables = answer.json
        for brokers in tables["clusterAddrTable"].values():
            brokers.sort()
        text = json.dumps(tables, sort_keys=True) + str(sorted(re.findall(r"[{,]-?\d+:", text)))
    fields = {name: value for name, value in answer.fields.items() if not name.startswith("leat")}  # of the watch
    return answer.code, fields, text


class Both:
    """A connection to each of the pair."""

    def __init__(self, pair, version=479):
        self.ours, self.original = (Remoting(address, version) for address in pair.addresses)

    def ask(self, code, content=b"", **fields):
        """The answer to both, which must be the same."""
        ours, original = (said(client.ask(code, content, **fields)) for client in (self.ours, self.original))
        assert ours == original, f"{code} {fields}"
        return ours

    def close(self):
        self.ours.close()
        self.original.close()


def test_registrations_and_routes(pair):
    both = Both(pair)
    old, older, strict = (Both(pair, version) for version in (317, 400, 401))

    assert both.ask(ROUTE, topic="plain")[0] == 17
    assert both.ask(REGISTER, body({"plain": 0}), **broker())[0] == 1  # one topic is no first registration
    assert both.ask(REGISTER, body(TOPICS), **broker(bodyCrc32=5))[0] == 1
    assert both.ask(REGISTER, b"{", **broker())[0] == 1
    whole = body(TOPICS, filters=["10.0.0.1:1"])
    assert both.ask(REGISTER, whole, **broker(bodyCrc32=zlib.crc32(whole) & 0x7FFFFFFF))[0] == 0
    both.ask(304)
    slave = both.ask(REGISTER, body(TOPICS), **broker(address=SLAVE, number=1, heartbeatTimeoutMillis=600000))
    assert slave[1]["masterAddr"] == MASTER
    assert both.ask(REGISTER, packed(["packed", "tight"]), **broker("z", OTHER, compressed="true"))[0] == 0
    for asking in (both, older, strict):
        for topic in (*TOPICS, "packed", "none"):
            asking.ask(ROUTE, topic=topic)
            asking.ask(ROUTE, topic=topic, acceptStandardJsonOnly="true")
    assert "0:" in older.ask(ROUTE, topic="plain")[2] and '"0":' in strict.ask(ROUTE, topic="plain")[2]
    # What the flag is called is the one thing that very old peers are told otherwise; see docs/registry-differences.md.
    told = [client.ask(ROUTE, topic="unit").body for client in (old.ours, old.original)]
    assert told[0] == told[1].replace(b"topicSysFlag", b"topicSynFlag")

    for code in (106, 206, 311, 312, 313):
        both.ask(code)
    for cluster in ("c", "x"):
        both.ask(224, cluster=cluster)
    both.ask(REGISTER, body({"plain": 0, "new": 0, "newer": 0}, counter=2), **broker())
    for topic in ("plain", "unit", "new"):
        both.ask(ROUTE, topic=topic)
    for client in (both, old, older, strict):
        client.close()


def test_versions_permissions_and_topics(pair):
    both = Both(pair)
    both.ask(REGISTER, body(TOPICS), **broker())
    both.ask(REGISTER, body(TOPICS), **broker(address=SLAVE, number=1))

    assert both.ask(322, VERSION % 1, **broker())[1] == {"changed": "false"}
    assert both.ask(322, VERSION % 2, **broker())[1] == {"changed": "true"}
    assert both.ask(322, VERSION % 2, **broker(address=OTHER))[1] == {"changed": "true"}
    assert both.ask(205, brokerName="b")[1] == {"wipeTopicCount": "4"}
    both.ask(205, brokerName="x")
    both.ask(ROUTE, topic="plain")
    both.ask(REGISTER, body(TOPICS), **broker())  # the same version: still wiped
    assert '"perm":4' in both.ask(ROUTE, topic="plain")[2]
    both.ask(327, brokerName="b")
    both.ask(ROUTE, topic="plain")
    one = b'{"queueDatas":[{"brokerName":"%s","perm":6,"readQueueNums":3,"topicSysFlag":0,"writeQueueNums":2}]}'
    both.ask(217, one % b"b", topic="made")
    both.ask(217, one % b"nobody", topic="unmade")
    both.ask(ROUTE, topic="made")
    both.ask(ROUTE, topic="unmade")
    both.ask(216, topic="made", clusterName="x")
    both.ask(ROUTE, topic="made")
    both.ask(216, topic="made", clusterName="c")
    both.ask(ROUTE, topic="made")
    for group in ("b", "x"):
        both.ask(901, clusterName="c", brokerName=group)
    both.ask(901, clusterName="x", brokerName="b")
    both.ask(904, clusterName="c", brokerName="b", brokerAddr=MASTER)
    assert both.ask(99999)[0] == 3
    both.close()


def test_the_kv_configuration(pair):
    both = Both(pair)

    assert both.ask(101, namespace="ns", key="k")[0] == 22
    assert both.ask(219, namespace="ns")[0] == 22
    both.ask(100, namespace="ns", key="k", value="v \u00e4 / \" \u2028")
    both.ask(101, namespace="ns", key="k")
    both.ask(219, namespace="ns")
    both.ask(102, namespace="ns", key="k")
    both.ask(102, namespace="x", key="x")
    assert both.ask(219, namespace="ns")[2] == '{"table":{}}'
    assert both.ask(100, namespace="ns")[0] == 1
    both.ask(100, namespace="ORDER_TOPIC_CONFIG", key="plain", value="b:8")
    assert both.ask(REGISTER, body(TOPICS), **broker())[2] == '{"table":{"plain":"b:8"}}'
    files = [path.read_bytes() for path in pair.kv_files]
    assert files[0] == files[1]
    both.close()


OPTIONAL = [  # code, body, fields: one by one they may be missing, and all of them
    (100, b"", {"namespace": "ns", "key": "k", "value": "v"}),
    (101, b"", {"namespace": "ns", "key": "k"}),
    (102, b"", {"namespace": "ns", "key": "k"}),
    (ROUTE, b"", {"topic": "plain"}),
    (205, b"", {"brokerName": "b"}),
    (327, b"", {"brokerName": "b"}),
    (216, b"", {"topic": "none", "clusterName": "c"}),
    (217, b'{"queueDatas":[]}', {"topic": "none"}),
    (217, b"{", {"topic": "none"}),
    (219, b"", {"namespace": "ns"}),
    (224, b"", {"cluster": "c"}),
    (322, VERSION % 1, {"brokerName": "b", "brokerAddr": MASTER, "clusterName": "c", "brokerId": 0}),
    (901, b"", {"clusterName": "c", "brokerName": "b"}),
    (904, b"", {"clusterName": "c", "brokerName": "b", "brokerAddr": MASTER}),
]


def test_what_is_missing(pair):
    both = Both(pair)
    both.ask(REGISTER, body(TOPICS), **broker())
    for code, content, fields in OPTIONAL:
        both.ask(code, content, **fields)
        for missing in fields:
            both.ask(code, content, **{name: value for name, value in fields.items() if name != missing})
        both.ask(code, content)
        both.ask(code, b"", **fields)
    assert both.ask(205)[1] == {"wipeTopicCount": "0"} and both.ask(224)[2] == "{}"
    assert both.ask(101, namespace="ns", key="k")[0] == both.ask(101)[0] == 22  # it was put without a value
    assert both.ask(322, **broker())[1] == {"changed": "true"}
    both.ask(ROUTE, topic="plain")
    both.ask(106)
    files = [json.loads(path.read_text()) for path in pair.kv_files]
    assert files[0] == files[1]
    both.close()


def test_the_settings(pair):
    both = Both(pair)
    both_say = [dict(line.split("=", 1) for line in client.ask(319).body.decode().splitlines()) for client in (both.ours, both.original)]

    assert [int(said["listenPort"]) for said in both_say] == [address[1] for address in pair.addresses]
    ours, original = both_say
    other = {name for name in ours if ours[name] != original.get(name)}
    assert other <= {"bindAddress", "kvConfigPath", "listenPort"}  # which these two were told otherwise
    both.close()


def test_brokers_that_leave(pair):
    both, slave = Both(pair), Both(pair)
    both.ask(REGISTER, body(TOPICS), **broker())
    slave.ask(REGISTER, body(TOPICS), **broker(address=SLAVE, number=1))
    both.ask(ROUTE, topic="plain")

    def same(topic, code, absent):
        answers = [said(client.ask(ROUTE, topic=topic)) for client in (both.ours, both.original)]
        return answers[0] == answers[1] and answers[0][0] == code and absent not in answers[0][2]

    both.ask(UNREGISTER, **broker())
    wait_until(lambda: same("plain", 0, MASTER), "the master has left both")
    both.ask(106)
    slave.close()
    wait_until(lambda: same("plain", 17, SLAVE), "the slave has left both")
    both.ask(106)
    both.ask(206)
    both.close()
