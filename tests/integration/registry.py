"""registry.py - one leat-registry for a story, and an nsqd that says just what the story wants."""
import json
import os
import pathlib
import socket
import struct
import urllib.error
import urllib.parse
import urllib.request

import leat
from leat import TIMEOUT, Reply


def program():
    """The leat-registry beside the leat to test."""
    return os.environ.get("LEAT_REGISTRY") or str(pathlib.Path(leat.program()).parent / "leat-registry")


def has_address_sanitizer():
    """The program that these stories measure."""
    return leat.has_address_sanitizer(program())


IDENTITY = {"broadcast_address": "node1.example", "tcp_port": 4150, "http_port": 4151, "version": "1.3.0",
            "hostname": "node1"}


class Registry(leat.Leat):
    """`leat-registry` with a configuration (a dict or YAML text; None: no file) and options."""

    def __init__(self, folder, config=None, options=(), **keywords):
        super().__init__(folder, config if config is not None else {}, **keywords)
        only_namesrv = isinstance(config, dict) and config.get("nsqlookupd") == "off"
        self.pages = "http" if only_namesrv else "nsqlookupd-http"
        self.options = list(options) + ([] if config is None else [str(self.config_path)])

    def command(self):
        return [*self.prefix, program(), "--log-format", self.log_format, "--log-level", self.log_level, *self.options]

    @property
    def tcp(self):
        return self.address("nsqlookupd-tcp")

    @property
    def namesrv(self):
        return self.address("namesrv")

    def ask(self, path, method="GET", component=None, timeout=TIMEOUT):
        host, port = self.address(component or self.pages)
        request = urllib.request.Request(f"http://{host}:{port}{path}", method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as reply:
                return Reply(reply.status, reply.headers, reply.read().decode())
        except urllib.error.HTTPError as error:
            return Reply(error.code, error.headers, error.read().decode())

    def post(self, path, **parameters):
        return self.ask(f"{path}?{urllib.parse.urlencode(parameters)}", "POST")

    def json(self, path, **parameters):
        reply = self.ask(f"{path}?{urllib.parse.urlencode(parameters)}")
        assert reply.status == 200, reply
        return json.loads(reply.text)

    def producers(self, topic):
        """Broadcast addresses that a look-up gives."""
        return sorted(p["broadcast_address"] for p in self.json("/lookup", topic=topic)["producers"])

    def request(self, path, method="GET", data=None):
        return self.ask(path, method)

    def restart(self, meanwhile=lambda: None):
        """At the same addresses."""
        fixed = {"tcp-address": "%s:%d" % self.tcp, "http-address": "%s:%d" % self.address("nsqlookupd-http")}
        self.stop()
        meanwhile()
        self.options = [f"-{name}={address}" for name, address in fixed.items()] + self.options
        return self.start()


class Peer:
    """A connection to a registry."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, timeout=TIMEOUT)

    def read(self, n):
        data = b""
        while len(data) < n:
            more = self.socket.recv(n - len(data))
            if not more:
                raise EOFError(data)
            data += more
        return data

    def is_at_end(self):
        """Whether the registry has closed the connection."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()


class Node(Peer):
    """What an nsqd does on its connection."""

    def __init__(self, address, magic=b"  V1", **changes):
        super().__init__(address)
        self.socket.sendall(magic)
        self.identity = {**IDENTITY, **changes}

    def send(self, data):
        self.socket.sendall(data)
        return self

    def answer(self):
        (length,) = struct.unpack(">i", self.read(4))
        return self.read(length)

    def command(self, line):
        return self.send(line.encode() + b"\n").answer()

    def identify(self, body=None):
        body = json.dumps(self.identity).encode() if body is None else body
        return self.send(b"IDENTIFY\n" + struct.pack(">i", len(body)) + body).answer()

    def register(self, *names):
        assert self.command("REGISTER " + " ".join(names)) == b"OK"
        return self

    def reset(self):
        """Closes as a process does that has bytes left to read: with an RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def joined(registry, *names, **changes):
    """A node that has identified itself, and registered a topic and perhaps a channel. It lives as long as it is held."""
    node = Node(registry.tcp, **changes)
    node.identify()
    return node.register(*names) if names else node
