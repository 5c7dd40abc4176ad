"""cut_link.py - ways between an agent and a far end that can be cut, so that nothing gets through and nobody is told.

    link = CutLink(far.port)           # a proxy in this process: it stops reading and forwarding, both ways
    link = VanishingLink()             # a network of its own, whose packets vanish; needs root
    link.address; link.cut(); link.mend(); link.close()
"""
import contextlib
import itertools
import os
import shutil
import socket
import subprocess
import threading

import pytest

CHUNK = 65536


class CutLink:
    """While it is cut, connections are still there: what comes stays in the buffers of the system."""

    def __init__(self, port):
        self.port = port
        self.whole = threading.Event()
        self.whole.set()
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        self.whole.clear()

    def mend(self):
        self.whole.set()

    def close(self):
        self.whole.set()
        for each in [self.listener, *self.sockets]:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                self.whole.wait()
                server = socket.create_connection(("127.0.0.1", self.port))
                self.sockets += [client, server]
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._forward, args=ends, daemon=True).start()

    def _forward(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                self.whole.wait()
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


class VanishingLink:
    """A pair of interfaces, the far one in a network namespace of its own. Skips the story where that cannot be."""

    numbers = itertools.count()

    def __init__(self):
        if shutil.which("ip") is None or os.geteuid() != 0:
            pytest.skip("no packets vanished: that needs root and the command ip (Debian: iproute2)")
        number = next(self.numbers)
        self.name = f"leat{os.getpid()}n{number}"
        self.near, self.far = f"lt{os.getpid()}a{number}", f"lt{os.getpid()}b{number}"
        subnet = f"198.18.{os.getpid() % 250}.{4 * number % 256}"
        self.near_host, self.host = (subnet.rsplit(".", 1)[0] + f".{4 * number % 256 + n}" for n in (1, 2))
        self.prefix = ["ip", "netns", "exec", self.name]
        try:
            self._set_up()
        except subprocess.CalledProcessError as error:
            self.close()
            pytest.skip(f"no packets vanished: {error.stderr.strip()}")

    def _set_up(self):
        self._ip("netns", "add", self.name)
        self._ip("link", "add", self.near, "type", "veth", "peer", "name", self.far, "netns", self.name)
        for host, interface, where in ((self.near_host, self.near, ()), (self.host, self.far, ("-n", self.name))):
            self._ip(*where, "address", "add", f"{host}/30", "dev", interface)
            self._ip(*where, "link", "set", interface, "up")
        # Known for good: else the system would soon say that there is no route, which is more than packets that vanish say.
        far = self._ip("-n", self.name, "-brief", "link", "show", self.far).split()[2]
        self._ip("neighbour", "replace", self.host, "lladdr", far, "dev", self.near, "nud", "permanent")

    @staticmethod
    def _ip(*arguments):
        return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True).stdout

    def cut(self):
        self._ip("-n", self.name, "link", "set", self.far, "down")

    def mend(self):
        self._ip("-n", self.name, "link", "set", self.far, "up")

    def close(self):
        for arguments in (("link", "delete", self.near), ("netns", "delete", self.name)):
            subprocess.run(["ip", *arguments], check=False, capture_output=True)
