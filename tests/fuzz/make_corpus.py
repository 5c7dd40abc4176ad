#!/usr/bin/env python3
"""make_corpus.py - writes the seeds of corpus/walk, corpus/event_bytes, corpus/reply and corpus/frame_server with Debian's
python3-thrift, and those of corpus/channel_dir from docs/file-channel-format.md. What a fuzzer found lies beside them under other names and is left alone.

    /usr/bin/python3 tests/fuzz/make_corpus.py
"""
import pathlib
import struct

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TCompactProtocol import TCompactProtocol
from thrift.Thrift import TApplicationException, TMessageType, TType
from thrift.transport.TTransport import TMemoryBuffer

CORPUS = pathlib.Path(__file__).parent / "corpus"
PROTOCOLS = {
    "compact": TCompactProtocol,
    "binary": lambda buffer: TBinaryProtocol(buffer, strictWrite=True),
    "old": lambda buffer: TBinaryProtocol(buffer, strictWrite=False),
}


def field(p, kind, number, write):
    p.writeFieldBegin("", kind, number)
    write()
    p.writeFieldEnd()


def headers(p, pairs):
    def write():
        p.writeMapBegin(TType.STRING, TType.STRING, len(pairs))
        for key, value in pairs:
            p.writeBinary(key)
            p.writeBinary(value)
        p.writeMapEnd()

    field(p, TType.MAP, 1, write)


def body(p, content):
    field(p, TType.STRING, 2, lambda: p.writeBinary(content))


def event(p, *parts):
    p.writeStructBegin("")
    for part, argument in parts:
        part(p, argument)
    p.writeFieldStop()
    p.writeStructEnd()


def plain(p, pairs=((b"host", b"web-1"), (b"k", b"v")), content=b"a line of a log"):
    event(p, (headers, pairs), (body, content))


def nested(p, depth):
    def write(left):
        p.writeStructBegin("")
        if left > 1:
            field(p, TType.STRUCT, 1, lambda: write(left - 1))
        p.writeFieldStop()
        p.writeStructEnd()

    field(p, TType.STRUCT, 9, lambda: write(depth))


def container(p, writer, kind, count, write):
    getattr(p, f"write{writer}Begin")(kind, count)
    for i in range(count):
        write(i)
    getattr(p, f"write{writer}End")()


def every_type(p, _):
    field(p, TType.BOOL, 3, lambda: p.writeBool(True))
    field(p, TType.BYTE, 4, lambda: p.writeByte(-1))
    field(p, TType.I16, 5, lambda: p.writeI16(-32768))
    field(p, TType.I32, 6, lambda: p.writeI32(-(2**31)))
    field(p, TType.I64, 7, lambda: p.writeI64(-(2**63)))
    field(p, TType.DOUBLE, 8, lambda: p.writeDouble(1.5))
    field(p, TType.LIST, 9, lambda: container(p, "List", TType.BOOL, 3, lambda i: p.writeBool(i == 1)))
    field(p, TType.SET, 10, lambda: container(p, "Set", TType.I64, 20, p.writeI64))
    field(p, TType.LIST, 300, lambda: container(p, "List", TType.STRUCT, 2, lambda i: plain(p)))

    def write_map():
        p.writeMapBegin(TType.I32, TType.LIST, 2)
        for i in range(2):
            p.writeI32(i)
            container(p, "List", TType.DOUBLE, 2, p.writeDouble)
        p.writeMapEnd()

    field(p, TType.MAP, -7, write_map)


def events(p, *writers, element=TType.STRUCT):
    def write():
        p.writeListBegin(element, len(writers))
        for writer in writers:
            writer(p)
        p.writeListEnd()

    field(p, TType.LIST, 1, write)


def single(p, writer):
    field(p, TType.STRUCT, 1, lambda: writer(p))


def strange(p):
    event(p, (body, b"first"), (every_type, None), (headers, ((b"a", b"1"),)))


def deep(depth):
    return lambda p: event(p, (headers, ()), (body, b""), (nested, depth))


def nul(p):
    plain(p, ((b"a\0b", b"\0"), (b"a", b"2"), (b"", b"")), b"\0\xff")


def many(p):
    plain(p, [(b"%d" % i, b"") for i in range(40)], b"x" * 200)


CALLS = {
    "append": ("append", lambda p: single(p, plain)),
    "append-empty": ("append", lambda p: single(p, lambda p: plain(p, (), b""))),
    "append-nothing": ("append", lambda p: None),
    "append-i32": ("append", lambda p: field(p, TType.I32, 1, lambda: p.writeI32(1))),
    "append-twice": ("append", lambda p: (single(p, plain), single(p, strange))),
    "batch": ("appendBatch", lambda p: events(p, plain, plain, plain)),
    "batch-of-20": ("appendBatch", lambda p: events(p, *[plain] * 20)),
    "batch-empty": ("appendBatch", lambda p: events(p)),
    "batch-strings": ("appendBatch", lambda p: events(p, lambda p: p.writeString("x"), element=TType.STRING)),
    "batch-strange": ("appendBatch", lambda p: (every_type(p, None), events(p, plain, strange, plain))),
    "batch-twice": ("appendBatch", lambda p: (events(p, plain, strange), events(p, plain))),
    "batch-nul": ("appendBatch", lambda p: events(p, nul)),
    "batch-many-headers": ("appendBatch", lambda p: events(p, many)),
    "batch-same-key": ("appendBatch", lambda p: events(p, lambda p: plain(p, [(b"k", b"%d" % i) for i in range(20)]))),
    "batch-no-body": ("appendBatch", lambda p: events(p, plain, lambda p: event(p, (headers, ())), plain)),
    "batch-two-bodies": ("appendBatch", lambda p: events(p, lambda p: event(p, (headers, ()), (body, b"1"), (body, b"2")))),
    "batch-two-maps": ("appendBatch", lambda p: events(p, lambda p: event(p, (headers, ((b"a", b"1"),)), (body, b""), (headers, ())))),
    "batch-deep": ("appendBatch", lambda p: events(p, deep(64))),
    "batch-too-deep": ("appendBatch", lambda p: events(p, deep(65))),
    "other": ("ping", lambda p: every_type(p, None)),
}


def message(protocol, name, kind, sequence_id, write):
    buffer = TMemoryBuffer()
    p = PROTOCOLS[protocol](buffer)
    p.writeMessageBegin(name, kind, sequence_id)
    p.writeStructBegin("")
    write(p)
    p.writeFieldStop()
    p.writeStructEnd()
    p.writeMessageEnd()
    return buffer.getvalue()


def encoded_event(write):
    buffer = TMemoryBuffer()
    write(TCompactProtocol(buffer))
    return buffer.getvalue()


def save(folder, name, content):
    path = CORPUS / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def exception_fields(p, exception):
    field(p, TType.STRING, 1, lambda: p.writeString(exception.message))
    field(p, TType.I32, 2, lambda: p.writeI32(exception.type))


def frames(*messages):
    return b"".join(struct.pack("!i", len(m)) + m for m in messages)


def save_streams():
    """Two bytes that say how the server plays (see fuzz_frame_server.c), then what a connection brings."""
    for protocol in PROTOCOLS:
        calls = [message(protocol, name, TMessageType.CALL, n, write) for n, (name, write) in enumerate(CALLS.values())]
        oneway = message(protocol, "append", TMessageType.ONEWAY, 7, lambda p: single(p, plain))
        for how in (0x00, 0x10, 0x01, 0x11, 0x02, 0x03, 0x13):
            save("frame_server", f"{protocol}-calls-{how:02x}", bytes([how, 5]) + frames(*calls[:3], oneway, *calls[5:]))
        save("frame_server", f"{protocol}-pipeline", b"\x00\x06" + frames(*calls[:1] * 100))
        save("frame_server", f"{protocol}-cut", b"\x00\x07" + frames(*calls[:2])[:-9])
        save("frame_server", f"{protocol}-unframed", b"\x00\x08" + calls[0])
        save("frame_server", f"{protocol}-not-wanted", bytes([8 if protocol == "compact" else 4, 1]) + frames(calls[0]))
        save("frame_server", f"{protocol}-reply", b"\x00\x01" + frames(message(protocol, "append", TMessageType.REPLY, 1, lambda p: None)))
    save("frame_server", "no-bytes", b"\x00\x01" + frames(b""))
    save("frame_server", "too-large", b"\x00\x01\x7f\xff\xff\xff")
    save("frame_server", "negative", b"\x00\x01\xff\xff\xff\xff")
    save("frame_server", "both-protocols", b"\x00\x01" + frames(*[
        message(protocol, "append", TMessageType.CALL, 1, lambda p: single(p, plain)) for protocol in PROTOCOLS]))


def identify(body):
    return b"IDENTIFY\n" + struct.pack(">I", len(body)) + body


def save_nodes():
    """What nsqds say to leat-registry: the first byte is the seed of the pieces."""
    good = identify(b'{"broadcast_address":"a","hostname":"h","tcp_port":4150,"http_port":4151,"version":"1.3.0"}')
    save("nsq", "node", b"\1  V1" + good + b"REGISTER t c\nPING\nREGISTER u#ephemeral d#ephemeral\nUNREGISTER u#ephemeral\n")
    save("nsq", "ephemeral", b"\2  V1" + good + b"REGISTER t c#ephemeral\nUNREGISTER t c#ephemeral\nUNREGISTER t\n")
    save("nsq", "pings", b"\3  V1" + b"PING\r\n" * 50 + b"NOPE x\n")
    save("nsq", "magic", b"\4  V2 and more")
    save("nsq", "names", b"\5  V1" + good + b"REGISTER $ $\n")
    save("nsq", "again", b"\6  V1" + good + good)
    save("nsq", "escapes", b"\7  V1" + identify(
        b'{"BROADCAST_ADDRESS":"\\ud83d\\ude00<&>","hostname":"\xff\\u0001","tcp_port":-1,"http_port":1,"version":"v","x":[[{"y":1e5}]]}'))
    save("nsq", "deep", b"\10  V1" + identify(b"[" * 600 + b"]" * 600))
    save("nsq", "size", b"\11  V1IDENTIFY\n\xff\xff\xff\xff{}")
    save("nsq", "long", b"\12  V1" + b"x" * 5000)


# ---- directories of a file channel: docs/file-channel-format.md, and fuzz_channel_dir.c for how they are put into one input ----

CHANNEL = 0xC4A11E1
AS_IT_IS, PUT_RIGHT = 0x10, 0x20


def crc32c(content):
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def with_checksum(content):
    return content[:12] + struct.pack("<I", crc32c(content[:12] + bytes(4) + content[16:])) + content[16:]


def head(number, first_seq, consumed=0, previous_end=4096, version=1, channel=CHANNEL):
    return with_checksum(struct.pack("<8sIIIIQQQqQQQQQ", b"LEATSEG\n", version, 0, 4096, 0x1EA70000 + number, channel, number, 65536,
                                     1, first_seq, consumed, number - 1, previous_end if number > 1 else 0, 0))


def record(number, kind, count, seq, payload, synced=4096, compression=0, raw_length=None):
    rest = struct.pack("<IBBHIQqIIII", len(payload), kind, compression, 0, count, seq, 1,
                       len(payload) if raw_length is None else raw_length, 0x1EA70000 + number, synced // 8, 0)
    return struct.pack("<I", crc32c(payload + rest)) + rest + payload + bytes(-len(payload) % 8)


def numbers(number, first, count, **more):
    payload = b"".join(encoded_event(lambda p: plain(p, (), str(n).encode())) for n in range(first, first + count))
    return record(number, 1, count, first, payload, **more)


def consumed(number, low, *ranges, **more):
    return record(number, 2, len(ranges), low, b"".join(struct.pack("<QQQ", *r) for r in ranges), **more)


def checkpoint(low, end, next_seq, *ranges, channel=CHANNEL):
    content = struct.pack("<8sIIQQQQQQQQQ", b"LEATCKP\n", 1, 0, channel, low, 1, 4096, *end, next_seq, 100, len(ranges))
    return with_checksum(content + b"".join(struct.pack("<QQQ", *r) for r in ranges))


def image(*files):
    return b"".join(bytes([kind]) + struct.pack("<H", len(content)) + content for kind, content in files)


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1:]


def save_directories():
    first = [numbers(1, 5 * i, 5) for i in range(3)]
    one = head(1, 0) + b"".join(first)
    end = 4096 + sum(map(len, first))
    two = head(2, 15, previous_end=end) + numbers(2, 15, 5) + consumed(2, 7, (0, 7, 100)) + numbers(2, 20, 5, synced=4272)
    good = checkpoint(3, (1, 4096 + len(first[0])), 5)
    whole = [(1, one), (2, two)]
    seeds = {
        "empty": [],
        "one": [(1, one)],
        "two": whole,
        "checkpoint": [(0, good), *whole],
        "checkpoint-ranges": [(0, checkpoint(3, (2, 4184), 20, (5, 6, 10), (8, 12, 40))), *whole],
        "checkpoint-ahead": [(0, checkpoint(3, (2, 9000), 2**63)), *whole],
        "checkpoint-last-number": [(0, checkpoint(2**64 - 2, (2, 4096), 2**64 - 1)), *whole],
        "checkpoint-foreign": [(0, checkpoint(3, (1, 4096), 5, channel=7)), *whole],
        "checkpoint-alone": [(0, good)],
        "checkpoint-flipped": [(0, flipped(good, 30)), *whole],
        "torn": [(1, one[:-20])],
        "damaged": [(1, flipped(one, 150)), (2, two)],
        "damaged-head": [(1, flipped(one, 30)), (2, two)],
        "zeros": [(1, one + bytes(64)), (2, two)],
        "missing-first": [(2, two)],
        "missing-middle": [(1, one), (3, head(3, 40, previous_end=5000) + numbers(3, 40, 2))],
        "same-number": [(1, one), (2, one)],
        "foreign-channel": [(1, one), (2, head(2, 15, channel=9) + numbers(2, 15, 5))],
        "version": [(1, one), (2, head(2, 15, version=2))],
        "again": [(1, one + numbers(1, 10, 5, synced=end)), (2, two)],
        "backwards": [(1, head(1, 50) + numbers(1, 50, 3) + numbers(1, 10, 3) + numbers(1, 52, 4))],
        "ends-behind-itself": [(1, one), (2, head(2, 15, previous_end=2**63) + numbers(2, 15, 5))],
        "last-numbers": [(1, head(1, 2**64 - 9) + numbers(1, 2**64 - 9, 4))],
        "consumed-everything": [(1, one + consumed(1, 2**64 - 2, (0, 2**64 - 1, 1)))],
        "consumed-ahead": [(1, one + consumed(1, 0, (10, 30, 1), (40, 50, 2**64 - 1)))],
        "consumed-nonsense": [(1, one + consumed(1, 5, (9, 3, 1), (7, 7, 0)))],
        "safe-behind-itself": [(1, head(1, 0) + numbers(1, 0, 5, synced=2**34))],
        "no-events": [(1, head(1, 0) + record(1, 1, 3, 0, b"not three events"))],
        "too-few-events": [(1, head(1, 0) + record(1, 1, 9, 0, first[0][48:80]))],
        "claims-much": [(1, head(1, 0) + record(1, 1, 5, 0, bytes(40), compression=1, raw_length=2**28))],
        "claims-more": [(1, head(1, 0) + record(1, 1, 2**32 - 1, 0, bytes(40), compression=1, raw_length=2**32 - 1))],
        "unknown-record": [(1, head(1, 0) + record(1, 7, 1, 0, bytes(8)) + first[0])],
        "others": [(1, one), (15, b"hello")],
        "raw-head": [(1 | AS_IT_IS, one[:96] + bytes(1952) + one[:96] + bytes(1952) + one[96:])],
        "raw-text": [(1 | AS_IT_IS, b"#!/bin/sh"), (2, two)],
        "raw-empty": [(1 | AS_IT_IS, b""), (2, two)],
        "put-right": [(0 | PUT_RIGHT, good), (1 | PUT_RIGHT, one), (2 | PUT_RIGHT, two)],
        "put-right-flipped": [(1 | PUT_RIGHT, flipped(one, 96 + 50)), (2 | PUT_RIGHT, flipped(two, 200))],
    }
    for name, files in seeds.items():
        save("channel_dir", name, image(*files))


def main():
    save_nodes()
    save_directories()
    save_streams()
    for protocol in PROTOCOLS:
        for label, (name, write) in CALLS.items():
            save("walk", f"{protocol}-{label}", message(protocol, name, TMessageType.CALL, 1, write))
        save("walk", f"{protocol}-oneway", message(protocol, "append", TMessageType.ONEWAY, -1, lambda p: single(p, plain)))
        save("walk", f"{protocol}-byte-more", message(protocol, "append", TMessageType.CALL, 1, lambda p: single(p, plain)) + b"\0")
        save("walk", f"{protocol}-cut", message(protocol, "append", TMessageType.CALL, 1, lambda p: single(p, plain))[:-9])
        for status in (0, 1, 9):
            save("reply", f"{protocol}-{status}",
                 message(protocol, "appendBatch", TMessageType.REPLY, 2, lambda p: field(p, TType.I32, 0, lambda: p.writeI32(status))))
        save("reply", f"{protocol}-exception",
             message(protocol, "append", TMessageType.EXCEPTION, 2, lambda p: exception_fields(p, TApplicationException(7, "no"))))
        save("reply", f"{protocol}-nothing", message(protocol, "append", TMessageType.REPLY, 2, lambda p: None))
    for label, write in (("plain", plain), ("nul", nul), ("many", many), ("strange", strange), ("empty", lambda p: plain(p, (), b""))):
        save("event_bytes", label, encoded_event(write))
    save("event_bytes", "same-key", encoded_event(lambda p: plain(p, ((b"k", b"1"), (b"k", b"2")))))


if __name__ == "__main__":
    main()
