"""wire.py - Thrift messages by the byte, good ones and bad ones, and sockets that send them raw.

The good ones are written by Python's own Thrift; the bad ones are put together here from the rules of the protocols.
"""
import collections
import socket
import struct

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.Thrift import TApplicationException, TMessageType
from thrift.transport.TTransport import TMemoryBuffer

from flume_api import Status, ThriftFlumeEvent, ThriftSourceProtocol

TIMEOUT = 60.0  # seconds; only ever reached when something is wrong

CALL, REPLY, EXCEPTION, ONEWAY = TMessageType.CALL, TMessageType.REPLY, TMessageType.EXCEPTION, TMessageType.ONEWAY

PROTOCOLS = {
    "compact": TCompactProtocol,
    "binary": TBinaryProtocol,
    "old-binary": lambda transport: TBinaryProtocol(transport, strictRead=False, strictWrite=False),
}
ALL = list(PROTOCOLS)

UNKNOWN_METHOD = TApplicationException.UNKNOWN_METHOD
PROTOCOL_ERROR = TApplicationException.PROTOCOL_ERROR


# ---- messages ----

def event(body, headers=None):
    return ThriftFlumeEvent(headers or {}, body)


def message(protocol, name, arguments=b"\0", seqid=1, kind=CALL):
    """A whole message: its header, then arguments, which are bytes or a struct of the generated code."""
    buffer = TMemoryBuffer()
    writer = PROTOCOLS[protocol](buffer)
    writer.writeMessageBegin(name, kind, seqid)
    if not isinstance(arguments, bytes):
        arguments.write(writer)
        arguments = b""
    return buffer.getvalue() + arguments


def append(protocol, body, headers=None, **keywords):
    return message(protocol, "append", ThriftSourceProtocol.append_args(event(body, headers)), **keywords)


def append_batch(protocol, bodies, headers=None, **keywords):
    events = [event(body, headers) for body in bodies]
    return message(protocol, "appendBatch", ThriftSourceProtocol.appendBatch_args(events), **keywords)


def frame(payload):
    return struct.pack("!i", len(payload)) + payload


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


# ---- fields, where the two protocols differ ----

TYPES = {  # name: (in a field header of compact, in binary)
    "i32": (5, 8), "string": (8, 11), "list": (9, 15), "set": (10, 14), "map": (11, 13), "struct": (12, 12),
}


def compact(protocol):
    return protocol == "compact"


def field(protocol, number, kind, value):
    """One field; in compact its header has the long form, so that any number may follow any other."""
    codes = TYPES[kind]
    if compact(protocol):
        return bytes([codes[0]]) + varint(number << 1) + value
    return struct.pack("!bh", codes[1], number) + value


def string(protocol, data, length=None):
    """length is what the bytes claim to be, if not the truth."""
    length = len(data) if length is None else length
    return (varint(length) if compact(protocol) else struct.pack("!i", length)) + data


def i32(protocol, number):
    return varint(number << 1) if compact(protocol) else struct.pack("!i", number)


def list_of(protocol, kind, items, count=None):
    count = len(items) if count is None else count
    codes = TYPES[kind]
    if not compact(protocol):
        head = struct.pack("!bi", codes[1], count)
    elif count < 15:
        head = bytes([count << 4 | codes[0]])
    else:
        head = bytes([0xF0 | codes[0]]) + varint(count)
    return head + b"".join(items)


def string_map(protocol, pairs, count=None, kinds=("string", "string")):
    count = len(pairs) if count is None else count
    entries = b"".join(string(protocol, key) + string(protocol, value) for key, value in pairs)
    codes = [TYPES[kind] for kind in kinds]
    if not compact(protocol):
        return struct.pack("!bbi", codes[0][1], codes[1][1], count) + entries
    return varint(count) + (bytes([codes[0][0] << 4 | codes[1][0]]) if count else b"") + entries


STOP = b"\0"


def raw_event(protocol, pairs=(), body=b"body"):
    return field(protocol, 1, "map", string_map(protocol, pairs)) + field(protocol, 2, "string", string(protocol, body)) + STOP


def raw_append(protocol, event_bytes, **keywords):
    return message(protocol, "append", field(protocol, 1, "struct", event_bytes) + STOP, **keywords)


# ---- replies ----

Answer = collections.namedtuple("Answer", "name seqid status exception text")


def read_answer(protocol, payload):
    """What a frame says: status, or the type of the exception, and its text."""
    reader = PROTOCOLS[protocol](TMemoryBuffer(payload))
    name, kind, seqid = reader.readMessageBegin()
    if kind == EXCEPTION:
        exception = TApplicationException()
        exception.read(reader)
        return Answer(name, seqid, None, exception.type, exception.message)
    assert kind == REPLY
    result = (ThriftSourceProtocol.append_result if name == "append" else ThriftSourceProtocol.appendBatch_result)()
    result.read(reader)
    return Answer(name, seqid, result.success, None, None)


OK, FAILED = Status.OK, Status.FAILED


class Raw:
    """A socket that sends bytes as they are, and reads frames."""

    def __init__(self, port, protocol="compact", host="127.0.0.1"):
        self.protocol = protocol
        self.socket = socket.create_connection((host, port), timeout=TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def send_frame(self, payload):
        self.send(frame(payload))

    def _read(self, length):
        """Exactly length bytes, or fewer at the end of the stream."""
        parts = []
        while length > 0:
            try:
                part = self.socket.recv(length)
            except ConnectionResetError:
                part = b""
            if not part:
                break
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def read_answer(self):
        """The next answer; None if the connection is closed."""
        prefix = self._read(4)
        if not prefix:
            return None
        assert len(prefix) == 4, "the connection was closed in the middle of an answer"
        [length] = struct.unpack("!i", prefix)
        payload = self._read(length)
        assert len(payload) == length, "the connection was closed in the middle of an answer"
        return read_answer(self.protocol, payload)

    def call(self, payload):
        self.send_frame(payload)
        return self.read_answer()

    def is_closed(self):
        """Waits until the other end has closed; FALSE if it says something instead."""
        return self._read(1) == b""

    def is_usable(self):
        """Whether a good request is answered as ever."""
        answer = self.call(append(self.protocol, b"still here", seqid=4711))
        return answer is not None and (answer.seqid, answer.status) == (4711, OK)
