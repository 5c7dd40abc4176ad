"""flume_api.py - flume.thrift in Python's own Thrift, an implementation that shares nothing with leat: client and peer.

    from flume_api import ThriftFlumeEvent, Status, flume_client
    with flume_client(agent.port("apps"), "binary") as client:
        assert client.append(ThriftFlumeEvent({"host": "a"}, b"body")) == Status.OK
"""
import atexit
import contextlib
import importlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.transport.TSocket import TServerSocket, TSocket
from thrift.transport.TTransport import TFramedTransport, TTransportException

from leat import free_port

PROTOCOLS = {"compact": TCompactProtocol, "binary": TBinaryProtocol}


def _generate():
    """Imports the modules that Thrift's compiler writes for flume.thrift."""
    folder = tempfile.mkdtemp(prefix="leat-flume-api-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source = pathlib.Path(__file__).resolve().parents[2] / "thrift" / "flume.thrift"
    compiler = os.environ.get("THRIFT_COMPILER", "thrift")
    subprocess.run([compiler, "--gen", "py", "-out", folder, str(source)], check=True)
    sys.path.insert(0, folder)
    return importlib.import_module("flume.ThriftSourceProtocol"), importlib.import_module("flume.ttypes")


ThriftSourceProtocol, _types = _generate()
ThriftFlumeEvent, Status = _types.ThriftFlumeEvent, _types.Status


@contextlib.contextmanager
def flume_client(port, protocol="compact", host="127.0.0.1"):
    transport = TFramedTransport(TSocket(host, port))
    transport.open()
    try:
        yield ThriftSourceProtocol.Client(PROTOCOLS[protocol](transport))
    finally:
        transport.close()


class FlumePeer:
    """A Thrift source that keeps every batch; answer(batch) says what to return, or raises. One thread a connection."""

    def __init__(self, protocol="compact", answer=lambda batch: Status.OK, host="127.0.0.1", port=None):
        self.protocol = PROTOCOLS[protocol]
        self.answer = answer
        self.batches = []
        self.processor = ThriftSourceProtocol.Processor(self)
        self.port = port or free_port()
        self.listener = TServerSocket(host, self.port)
        self.listener.listen()
        self.connections = []
        threading.Thread(target=self._accept, daemon=True).start()

    def append(self, event):
        return self.appendBatch([event])

    def appendBatch(self, events):  # pylint: disable=invalid-name
        self.batches.append(events)
        return self.answer(events)

    @property
    def bodies(self):
        return [event.body for batch in list(self.batches) for event in batch]

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection = self.listener.accept()
                self.connections.append(connection)
                threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        protocol = self.protocol(TFramedTransport(connection))
        with contextlib.suppress(TTransportException, OSError, EOFError):
            while True:
                self.processor.process(protocol, protocol)

    def close(self):
        """Nobody listens any more when it returns; threads end by themselves at the end of their connections."""
        for connection in [self.listener, *self.connections]:
            with contextlib.suppress(OSError):
                connection.handle.shutdown(socket.SHUT_RDWR)
        self.listener.handle.close()
