#!/usr/bin/env python3
"""make_remoting_corpus.py - writes the seeds of corpus/remoting: frames and bodies of RocketMQ's programs.

    /usr/bin/python3 tests/fuzz/make_remoting_corpus.py
"""
import json
import pathlib
import struct
import zlib

CORPUS = pathlib.Path(__file__).parent / "corpus" / "remoting"
STREAM, BODY, ROUTE, CLUSTER, TOPICS, KV, DIALECT = range(7)


def frame(header, body=b"", kind=0):
    return struct.pack(">II", 4 + len(header) + len(body), kind << 24 | len(header)) + header + body


def json_frame(code, fields=None, body=b"", version=479, **more):
    header = {"code": code, "extFields": fields or {}, "flag": 0, "language": "JAVA", "opaque": 7,
              "serializeTypeCurrentRPC": "JSON", "version": version, **more}
    return frame(json.dumps(header, separators=(",", ":")).encode(), body)


def packed_frame(code, fields, body=b"", version=479, remark=b""):
    pairs = b"".join(struct.pack(">h", len(k)) + k + struct.pack(">i", len(v)) + v for k, v in fields)
    return frame(struct.pack(">hbhiii", code, 0, version, 7, 0, len(remark)) + remark
                 + struct.pack(">i", len(pairs)) + pairs, body, kind=1)


MAPPING = b'{"bname":"b","currIdMap":{0:0,2:1,10:1},"dirty":false,"epoch":1,"scope":"__global__","topic":"T","totalQueues":8}'
WRAPPER = (b'{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":1700000000000},"topicConfigTable":{"T":{"attributes":{},'
           b'"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"T","topicSysFlag":0,'
           b'"writeQueueNums":8},"U":{"order":true}},"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{"T":' + MAPPING + b"}}")
REGISTRATION = b'{"filterServerList":["f:1"],"topicConfigSerializeWrapper":' + WRAPPER + b"}"
FIELDS = {"brokerName": "b", "brokerAddr": "10.0.0.1:10911", "clusterName": "c", "haServerAddr": "10.0.0.1:10912",
          "brokerId": "0", "enableActingMaster": "false", "compressed": "false"}
ROUTES = (b'{"brokerDatas":[{"brokerAddrs":{0:"a:1",1:"b:1"},"brokerName":"b","cluster":"c","enableActingMaster":false,'
          b'"zoneName":"z"}],"filterServerTable":{"a:1":["f:1"]},"orderTopicConf":"b:4","queueDatas":[{"brokerName":"b","perm":6,'
          b'"readQueueNums":8,"topicSysFlag":0,"writeQueueNums":8}],"topicQueueMappingByBroker":{"b":' + MAPPING + b"}}")


def packed_texts(*texts):
    return b"".join(struct.pack(">i", len(text)) + text for text in texts)


CONTENT = (packed_texts(b'{"counter":1,"timestamp":2}') + struct.pack(">i", 2) + packed_texts(b"T 8 8 6 SINGLE_TAG {}", b"U 1 2 4 A")
           + packed_texts(b'["f:1"]') + struct.pack(">i", 1) + packed_texts(MAPPING))


def crc(body):
    return str(zlib.crc32(body) & 0x7FFFFFFF)


def seeds():
    registration = json_frame(103, {**FIELDS, "bodyCrc32": crc(REGISTRATION)}, REGISTRATION)
    compressed = zlib.compress(CONTENT)
    fields = [(key.encode(), value.encode()) for key, value in FIELDS.items()]
    yield "stream-registration", STREAM, registration + json_frame(105, {"topic": "T", "acceptStandardJsonOnly": "true"})
    yield "stream-packed", STREAM, packed_frame(103, fields, REGISTRATION, remark=b"r") + packed_frame(105, [(b"topic", b"\xff")])
    yield "stream-compressed", STREAM, json_frame(103, {**FIELDS, "bodyCrc32": crc(compressed)}, compressed)
    yield "stream-unquoted", STREAM, json_frame(310, {"a": 1, "b": True, "c": None, "d": {"e": [1.5]}}, version=121)
    yield "stream-answer", STREAM, json_frame(17, remark="No topic \u20ac", flag=3)
    yield "stream-cut", STREAM, registration[:-5]
    yield "stream-tls", STREAM, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    yield "stream-too-long", STREAM, b"\x00\x01\x86\x9d\x00\x00\x00\x00"
    yield "stream-lies", STREAM, b"\x00\x00\x00\x06\x00\x00\x00\x03{}"
    yield "body-json", BODY, REGISTRATION
    yield "body-wrapper", BODY, WRAPPER
    yield "body-compressed", BODY, compressed
    yield "body-damaged", BODY, compressed[:40] + b"\0" + compressed[41:]
    yield "body-count-lies", BODY, zlib.compress(packed_texts(b"{}") + b"\xff\xff\xff\xff")
    yield "route", ROUTE, ROUTES
    yield "route-quoted", ROUTE, ROUTES.replace(b"0:", b'"0":').replace(b",1:", b',"1":').replace(b"2:1,10:", b'"2":1,"10":')
    yield "route-reference", ROUTE, b'{"topicQueueMappingByBroker":{"b":' + MAPPING + b',"c":{"$ref":"$.topicQueueMappingByBroker.b"}}}'
    yield "route-old", ROUTE, b'{"queueDatas":[{"topicSynFlag":1}],"brokerDatas":[{"brokerAddrs":{-1:"x"}}]}'
    yield "cluster", CLUSTER, b'{"brokerAddrTable":{"b":{"brokerAddrs":{0:"a:1"},"cluster":"c"}},"clusterAddrTable":{"c":["b",null],"d":null}}'
    yield "topics", TOPICS, b'{"brokerAddr":"a:1","topicList":["t","%RETRY%g","\\u00e4\\/"]}'
    yield "kv-table", KV, b'{"table":{"k":"v"}}'
    yield "kv-config", KV, b'{"configTable":{"ORDER_TOPIC_CONFIG":{"T":"b:4;c:4"},"empty":{}}}'
    yield "dialect", DIALECT, b' [ {1:2,"3":[],-4:"\\ud83d\\ude00\\u0000\x7f/"} , 1e-9, true,null ,"\xff"]'
    yield "dialect-deep", DIALECT, b"[" * 512 + b"]" * 512


def main():
    CORPUS.mkdir(exist_ok=True)
    for name, kind, content in seeds():
        (CORPUS / name).write_bytes(bytes([kind]) + content)


if __name__ == "__main__":
    main()
