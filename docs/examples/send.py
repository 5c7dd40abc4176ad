#!/usr/bin/python3
"""Sends two events to a leat agent, or to Apache Flume. First: thrift --gen py thrift/flume.thrift"""
import sys
sys.path.insert(0, "gen-py")
from flume import ThriftSourceProtocol
from flume.ttypes import Status, ThriftFlumeEvent
from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.transport import TSocket, TTransport

transport = TTransport.TFramedTransport(TSocket.TSocket("127.0.0.1", int(sys.argv[1])))
transport.open()
client = ThriftSourceProtocol.Client(TCompactProtocol(transport))
events = [ThriftFlumeEvent({"app": "demo"}, text) for text in (b"hello", b"from Python")]
print("answer:", Status._VALUES_TO_NAMES[client.appendBatch(events)])
