#!/usr/bin/python3
"""send.py [PORT] - sends two events to a leat agent, or to Apache Flume. First: thrift --gen py thrift/flume.thrift"""
import sys
sys.path.insert(0, "gen-py")
from flume import ThriftSourceProtocol
from flume.ttypes import Status, ThriftFlumeEvent
from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.transport import TSocket, TTransport

port = int(sys.argv[1]) if len(sys.argv) > 1 else 4141
transport = TTransport.TFramedTransport(TSocket.TSocket("127.0.0.1", port))
transport.open()
client = ThriftSourceProtocol.Client(TCompactProtocol(transport))
events = [ThriftFlumeEvent({"app": "demo"}, text) for text in (b"hello", b"from Python")]
print("answer:", Status._VALUES_TO_NAMES[client.appendBatch(events)])
