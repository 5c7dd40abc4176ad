#!/usr/bin/env python3
"""registry_bench.py - leat-registry beside the real nsqlookupd, where that has been built; see README.md in this folder.

Exit status 0 whatever the numbers: a benchmark judges, it does not gate.
"""
import argparse
import json
import os
import pathlib
import resource
import socket
import struct
import subprocess
import tempfile
import time

from bench import cpu_seconds, free_port, is_listening, memory_kb, until

NODES, TOPICS = 1000, 100
HEARTBEATING = 10000
HEARTBEAT_S = 15
LOOKUPS = 2000


def read_some(sock, n=1 << 20):
    data = sock.recv(n)
    if not data:
        raise OSError("the registry has closed the connection")
    return data


def read_exactly(sock, n):
    data = bytearray()
    while len(data) < n:
        data += read_some(sock, n - len(data))
    return bytes(data)


def answers(sock, n):
    for _ in range(n):
        (length,) = struct.unpack(">i", read_exactly(sock, 4))
        read_exactly(sock, length)


class Server:
    """A registry under load; the log goes to a file."""

    def __init__(self, command):
        self.tcp, self.http = free_port(), free_port()
        self.folder = tempfile.TemporaryDirectory()
        with open(f"{self.folder.name}/log", "wb") as log:
            self.process = subprocess.Popen(
                [command, f"-tcp-address=127.0.0.1:{self.tcp}", f"-http-address=127.0.0.1:{self.http}"], stderr=log, stdout=log)
        until(lambda: is_listening(self.http), "a listening registry")
        self.nodes = []

    def node(self, number):
        sock = socket.create_connection(("127.0.0.1", self.tcp))
        body = json.dumps({"broadcast_address": f"node{number}.example", "hostname": f"node{number}", "tcp_port": 4150,
                           "http_port": 4151, "version": "1.3.0"}).encode()
        sock.sendall(b"  V1IDENTIFY\n" + struct.pack(">i", len(body)) + body)
        answers(sock, 1)
        self.nodes.append(sock)
        return sock

    def measured(self, work):
        """(seconds, CPU seconds of the server) that some work takes."""
        cpu, begin = cpu_seconds(self.process.pid), time.monotonic()
        work()
        return time.monotonic() - begin, cpu_seconds(self.process.pid) - cpu

    def register(self, n_nodes, topics):
        commands = b"".join(b"REGISTER %s c\n" % topic.encode() for topic in topics)
        for number in range(n_nodes):
            sock = self.node(number)
            sock.sendall(commands)
            answers(sock, len(topics))

    def look_up(self, topic, n):
        request = f"GET /lookup?topic={topic} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        for _ in range(n):
            with socket.create_connection(("127.0.0.1", self.http)) as sock:
                sock.sendall(request)
                self.read_reply(sock)

    @staticmethod
    def read_reply(sock):
        data = b""
        while b"\r\n\r\n" not in data:
            data += read_some(sock)
        head, _, text = data.partition(b"\r\n\r\n")
        if b"chunked" in head:  # Go's answer to what is large
            while not text.endswith(b"0\r\n\r\n"):
                text += read_some(sock)
            return
        length = int(next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")).split(b":")[1])
        read_exactly(sock, length - len(text))

    def beat(self):
        for sock in self.nodes:
            sock.sendall(b"PING\n")
        for sock in self.nodes:
            answers(sock, 1)

    def close(self):
        for sock in self.nodes:
            sock.close()
        self.process.terminate()
        self.process.wait(timeout=20)
        self.folder.cleanup()


def look_ups_per_cpu_second(server, topic, n):
    _, cpu = server.measured(lambda: server.look_up(topic, n))
    return n / max(cpu, 0.01)


def measure(command):
    """Name of the row -> number."""
    rows = {}
    server = Server(command)
    try:
        topics = [f"topic{i}" for i in range(TOPICS)]
        seconds, cpu = server.measured(lambda: server.register(NODES, topics))
        rows["registrations/s"] = NODES * TOPICS * 2 / seconds
        rows["registrations per CPU-second"] = NODES * TOPICS * 2 / cpu
        rows[f"RSS of {NODES} nodes x {TOPICS} topics, kB"] = memory_kb(server.process.pid, "VmRSS")
        rows[f"look-ups of {NODES} nodes per CPU-second"] = look_ups_per_cpu_second(server, "topic7", LOOKUPS // 4)
        server.nodes[0].sendall(b"REGISTER alone c\n")
        answers(server.nodes[0], 1)
        rows["look-ups of one node per CPU-second"] = look_ups_per_cpu_second(server, "alone", LOOKUPS * 5)
    finally:
        server.close()
    server = Server(command)
    try:
        number = min(HEARTBEATING, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 500)
        server.register(number, ["t"])
        _, cpu = server.measured(lambda: [server.beat() for _ in range(5)])
        rows[f"{number} nodes, a beat in {HEARTBEAT_S} s: part of a core"] = cpu / 5 / HEARTBEAT_S
        rows[f"RSS of {number} nodes, kB"] = memory_kb(server.process.pid, "VmRSS")
    finally:
        server.close()
    return rows


def find_original():
    """The nsqlookupd that `make interop` has built, or None."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "leat-interop"
    return next((str(path) for path in sorted(cache.glob("nsq-*/nsqlookupd"))), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--registry", required=True, help="the program")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    original = find_original()
    ours = measure(options.registry)
    theirs = measure(original) if original else {}
    if not original:
        print("no nsqlookupd to compare with: `make interop` builds it where Go and the network are")
    print(f"{'':58}  {'leat-registry':>14}  {'nsqlookupd':>12}  ratio")
    for name, number in ours.items():
        other = theirs.get(name)
        beside = f"{other:12.4g}  {number / other:5.2f}" if other else ""
        print(f"{name:58}  {number:14.4g}  {beside}".rstrip())


if __name__ == "__main__":
    main()
