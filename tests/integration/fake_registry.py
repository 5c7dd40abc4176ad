"""fake_registry.py - a registry that answers what the story wants, or nothing, and writes down what it was told."""
import contextlib
import json
import socket
import struct
import threading

from leat import TIMEOUT, wait_until


class FakeNsqlookupd:
    """Speaks NSQ's look-up protocol V1 to one node at a time; answer(line) is called before each answer, and None of
    it means that there is none."""

    def __init__(self, answer=lambda line: b"OK"):
        self.answer = answer
        self.lines = []
        self.identity = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.listener.accept()
                with peer, peer.makefile("rb") as stream, contextlib.suppress(OSError):
                    self._talk(peer, stream)

    def _talk(self, peer, stream):
        assert stream.read(4) == b"  V1"
        for line in stream:
            if line == b"IDENTIFY\n":
                self.identity = json.loads(stream.read(struct.unpack(">i", stream.read(4))[0]))
            self.lines.append(line.decode().rstrip("\n"))
            answer = self.answer(self.lines[-1])
            if answer is not None:
                answer = b"{}" if line == b"IDENTIFY\n" else answer
                peer.sendall(struct.pack(">i", len(answer)) + answer)

    def wait_for(self, line, timeout=TIMEOUT):
        wait_until(lambda: line in self.lines, f"the registry is told '{line}'", timeout)

    def close(self):
        self.listener.close()
