"""fake_registry.py - a registry that answers what the story wants, or nothing, and writes down what it was told."""
import contextlib
import json
import socket
import struct
import threading

from leat import TIMEOUT, wait_until


class FakeRegistry:
    """One node at a time."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                peer, _ = self.listener.accept()
                with peer, peer.makefile("rb") as stream, contextlib.suppress(OSError, struct.error):
                    self._talk(peer, stream)

    def _talk(self, peer, stream):
        raise NotImplementedError

    def close(self):
        self.listener.close()


class Blunt(FakeRegistry):
    """Says the same whatever it is asked, and hangs up."""

    def __init__(self, said):
        self.said = said
        super().__init__()

    def _talk(self, peer, stream):
        peer.recv(65536)
        peer.sendall(self.said)


class FakeNsqlookupd(FakeRegistry):
    """Speaks NSQ's look-up protocol V1; answer(line) is called before each answer, and None of it means that there is
    none."""

    def __init__(self, answer=lambda line: b"OK"):
        self.answer = answer
        self.lines = []
        self.identity = None
        super().__init__()

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


class FakeNamesrv(FakeRegistry):
    """Speaks RocketMQ's remoting protocol with headers in JSON; answer(code) is called before each answer."""

    REGISTER, UNREGISTER = 103, 104

    def __init__(self, answer=lambda code: 0):
        self.answer = answer
        self.requests = []  # (code, fields, body)
        super().__init__()

    def _talk(self, peer, stream):
        while True:
            total, mark = struct.unpack(">ii", stream.read(8))
            assert mark >> 24 == 0, "the header is JSON"
            header = json.loads(stream.read(mark))
            body = stream.read(total - 4 - mark)
            self.requests.append((header["code"], header["extFields"], json.loads(body) if body else None))
            code = self.answer(header["code"])
            answer = json.dumps({"code": code, "flag": header["flag"] | 1, "language": "JAVA", "opaque": header["opaque"],
                                 "serializeTypeCurrentRPC": "JSON", "version": 479}).encode()
            peer.sendall(struct.pack(">ii", 4 + len(answer), len(answer)) + answer)

    def of(self, code):
        return [request for request in self.requests if request[0] == code]

    def wait_for(self, code, number=1):
        """The first so many requests of this code."""
        return wait_until(lambda: len(self.of(code)) >= number and self.of(code)[:number], f"{number} requests {code}")
