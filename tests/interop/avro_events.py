"""avro_events.py - reads the Avro files that Flume's file_roll sink writes with the serializer AVRO_EVENT.

A file is a header (magic, a map of metadata, a mark of 16 bytes) and blocks (count, size, that many bytes, the mark).
An event in a block is a map of strings and then bytes. A number is a zigzag varint.
"""
import pathlib

MARK_SIZE = 16


class _Torn(Exception):
    """The file ends here: its writer was killed, or goes on later."""


class _Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        if self.at + size > len(self.data):
            raise _Torn
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)

    def sized(self):
        return self.take(self.number())

    def map(self):
        pairs = {}
        while (count := self.number()) != 0:
            if count < 0:
                self.number()  # the size in bytes of what follows
            for _ in range(abs(count)):
                key = self.sized().decode()
                pairs[key] = self.sized()
        return pairs


def _read_blocks(data):
    """(count, data) of each whole block."""
    cursor = _Cursor(data)
    try:
        assert cursor.take(4) == b"Obj\x01"
        metadata = cursor.map()
        assert metadata.get("avro.codec", b"null") == b"null"
        mark = cursor.take(MARK_SIZE)
        while True:
            count, block = cursor.number(), cursor.sized()
            assert cursor.take(MARK_SIZE) == mark
            yield count, block
    except _Torn:
        return


def _blocks_of_folder(folder):
    for path in sorted(pathlib.Path(folder).iterdir()):
        yield from _read_blocks(path.read_bytes())


def count_avro_events(folder):
    return sum(count for count, _ in _blocks_of_folder(folder))


def read_avro_events(folder):
    """[(headers, body)] of every event in the files of a folder."""
    events = []
    for count, block in _blocks_of_folder(folder):
        cursor = _Cursor(block)
        for _ in range(count):
            headers = {key: value.decode() for key, value in cursor.map().items()}
            events.append((headers, cursor.sized()))
        assert cursor.at == len(block)
    return events
