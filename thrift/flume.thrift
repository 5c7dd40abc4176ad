/*
 * What Apache Flume's Thrift source speaks (since Flume 1.4): framed transport, compact protocol by
 * default, binary by configuration. leat's server and clients are built from this file.
 */
namespace c_glib flume
namespace java org.apache.flume.thrift
namespace py flume

struct ThriftFlumeEvent {
  1: required map<string, string> headers,
  2: required binary body,
}

enum Status {
  OK = 0,
  FAILED = 1,
  ERROR = 2,
  UNKNOWN = 3,
}

service ThriftSourceProtocol {
  Status append(1: ThriftFlumeEvent event),
  Status appendBatch(1: list<ThriftFlumeEvent> events),
}
