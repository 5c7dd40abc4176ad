"""remoting.py - a broker or client of RocketMQ that says to a name server just what the story wants."""
import itertools
import json
import re
import struct
import zlib

from registry import Peer

REGISTER, UNREGISTER, ROUTE, CLUSTER = 103, 104, 105, 106


class Answer:
    def __init__(self, header, body):
        self.header, self.body = header, body
        self.code, self.remark = header["code"], header.get("remark")
        self.fields = header.get("extFields") or {}

    @property
    def json(self):
        """The body, whose integer keys need not be quoted."""
        return json.loads(re.sub(r'([{,])(-?\d+):', r'\1"\2":', self.body.decode()))

    def __repr__(self):
        return f"<{self.header} {self.body!r}>"


class Remoting(Peer):
    """What a broker or client does on its connection."""

    def __init__(self, address, version=479):
        super().__init__(address)
        self.opaque = itertools.count(1)
        self.version = version

    def send(self, code, body=b"", one_way=False, **fields):
        opaque = next(self.opaque)
        header = json.dumps({
            "code": code, "language": "JAVA", "version": self.version, "opaque": opaque, "flag": 2 if one_way else 0,
            "extFields": {name: str(value) for name, value in fields.items()},
            "serializeTypeCurrentRPC": "JSON"}).encode()
        self.socket.sendall(struct.pack(">II", 4 + len(header) + len(body), len(header)) + header + body)
        return opaque

    def receive(self):
        total, mark = struct.unpack(">II", self.read(8))
        assert mark >> 24 == 0
        return Answer(json.loads(self.read(mark)), self.read(total - 4 - mark))

    def ask(self, code, body=b"", **fields):
        opaque = self.send(code, body, **fields)
        answer = self.receive()
        assert answer.header["opaque"] == opaque and answer.header["flag"] & 1, answer
        return answer

    def register(self, broker="b1", address="10.0.0.1:10911", topics=("t1", "t2"), one_way=False, **changes):
        """As a master of 5.3 does, with 8 queues that may be read and written. None for one that is one-way."""
        fields = {"brokerName": broker, "brokerAddr": address, "clusterName": "c1", "brokerId": 0,
                  "haServerAddr": "10.0.0.1:10912", "compressed": "false", "enableActingMaster": "false"}
        counter = changes.pop("counter", 1)
        fields.update(changes)
        body = json.dumps({"filterServerList": [], "topicConfigSerializeWrapper": {
            "dataVersion": {"counter": counter, "stateVersion": 0, "timestamp": 1700000000000},
            "topicConfigTable": {topic: topic_config(topic) for topic in topics}}}).encode()
        fields["bodyCrc32"] = zlib.crc32(body) & 0x7FFFFFFF
        if one_way:
            self.send(REGISTER, body, one_way=True, **fields)
            return None
        return self.ask(REGISTER, body, **fields)

    def unregister(self, broker="b1", address="10.0.0.1:10911", **changes):
        fields = {"brokerName": broker, "brokerAddr": address, "clusterName": "c1", "brokerId": 0}
        return self.ask(UNREGISTER, **{**fields, **changes})

    def route(self, topic, **fields):
        return self.ask(ROUTE, topic=topic, **fields)

    def brokers(self, topic):
        """Addresses by id by name; none if there is no route."""
        answer = self.route(topic)
        if answer.code == 17:
            return {}
        assert answer.code == 0, answer
        return {data["brokerName"]: data["brokerAddrs"] for data in answer.json["brokerDatas"]}


def topic_config(name, **changes):
    return {"attributes": {}, "order": False, "perm": 6, "readQueueNums": 8, "topicFilterType": "SINGLE_TAG",
            "topicName": name, "topicSysFlag": 0, "writeQueueNums": 8, **changes}
