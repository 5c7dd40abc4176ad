#!/usr/bin/env python3
"""registry_bench.py - leat-registry beside the real nsqlookupd and namesrv, where they can be had; see README.md in this folder.

Exit status 0 whatever the numbers: a benchmark judges, it does not gate.
"""
import argparse
import contextlib
import json
import os
import pathlib
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from bench import TESTS, cpu_seconds, free_port, is_listening, memory_kb, until

NODES, TOPICS = 1000, 100
HEARTBEATING = 10000
NSQ_HEARTBEAT_S, BROKER_HEARTBEAT_S = 15, 30  # as nsqd and brokers have it
BEATS = 5
LOOKUPS = 2000
REGISTER, ROUTE = 103, 105
ROCKETMQ = "5.3.3"


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
    """A registry under load; the log goes to a file, and so does what it writes."""

    def __init__(self, command, folder, port):
        self.folder = folder
        with open(f"{folder.name}/log", "wb") as log:
            self.process = subprocess.Popen(command, stderr=log, stdout=log, cwd=folder.name)
        self.nodes = []
        until(lambda: is_listening(port), "a listening registry")

    def measured(self, work):
        """(seconds, CPU seconds of the server) that some work takes."""
        cpu, begin = cpu_seconds(self.process.pid), time.monotonic()
        work()
        return time.monotonic() - begin, cpu_seconds(self.process.pid) - cpu

    def per_cpu_second(self, n, work):
        return n / max(self.measured(work)[1], 0.01)

    def part_of_a_core(self, period_s):
        """That the heartbeats of all nodes take."""
        return self.measured(lambda: [self.beat() for _ in range(BEATS)])[1] / BEATS / period_s

    def close(self):
        for sock in self.nodes:
            sock.close()
        self.process.terminate()
        self.process.wait(timeout=20)
        self.folder.cleanup()


def how_many_connections():
    return min(HEARTBEATING, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 500)


# ---- nsqlookupd ----

class NsqServer(Server):
    def __init__(self, program):
        self.tcp, self.http = free_port(), free_port()
        super().__init__([program, f"-tcp-address=127.0.0.1:{self.tcp}", f"-http-address=127.0.0.1:{self.http}"],
                         tempfile.TemporaryDirectory(), self.http)

    def node(self, number):
        sock = socket.create_connection(("127.0.0.1", self.tcp))
        body = json.dumps({"broadcast_address": f"node{number}.example", "hostname": f"node{number}", "tcp_port": 4150,
                           "http_port": 4151, "version": "1.3.0"}).encode()
        sock.sendall(b"  V1IDENTIFY\n" + struct.pack(">i", len(body)) + body)
        answers(sock, 1)
        self.nodes.append(sock)
        return sock

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


def measure_nsq(program):
    """Name of the row -> number."""
    rows = {}
    with contextlib.closing(NsqServer(program)) as server:
        topics = [f"topic{i}" for i in range(TOPICS)]
        seconds, cpu = server.measured(lambda: server.register(NODES, topics))
        rows["registrations/s"] = NODES * TOPICS * 2 / seconds
        rows["registrations per CPU-second"] = NODES * TOPICS * 2 / cpu
        rows[f"RSS of {NODES} nodes x {TOPICS} topics, kB"] = memory_kb(server.process.pid, "VmRSS")
        n = LOOKUPS // 4
        rows[f"look-ups of {NODES} nodes per CPU-second"] = server.per_cpu_second(n, lambda: server.look_up("topic7", n))
        server.nodes[0].sendall(b"REGISTER alone c\n")
        answers(server.nodes[0], 1)
        n = LOOKUPS * 5
        rows["look-ups of one node per CPU-second"] = server.per_cpu_second(n, lambda: server.look_up("alone", n))
    with contextlib.closing(NsqServer(program)) as server:
        number = how_many_connections()
        server.register(number, ["t"])
        rows[f"{number} nodes, a beat in {NSQ_HEARTBEAT_S} s: part of a core"] = server.part_of_a_core(NSQ_HEARTBEAT_S)
        rows[f"RSS of {number} nodes, kB"] = memory_kb(server.process.pid, "VmRSS")
    return rows


def find_nsqlookupd():
    """What `make interop` has built, or None."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "leat-interop"
    return next((str(path) for path in sorted(cache.glob("nsq-*/nsqlookupd"))), None)


# ---- RocketMQ's namesrv ----

def frame(code, body=b"", **fields):
    header = json.dumps({"code": code, "language": "JAVA", "version": 479, "opaque": 1, "flag": 0, "extFields": fields,
                         "serializeTypeCurrentRPC": "JSON"}, separators=(",", ":")).encode()
    return struct.pack(">II", 4 + len(header) + len(body), len(header)) + header + body


def registration(number, topics, counter):
    """As a broker of 5.3 sends it, whole, at each of its heartbeats."""
    body = json.dumps({"filterServerList": [], "topicConfigSerializeWrapper": {
        "dataVersion": {"counter": counter, "stateVersion": 0, "timestamp": 1700000000000},
        "topicConfigTable": {topic: {"attributes": {}, "order": False, "perm": 6, "readQueueNums": 8, "topicFilterType": "SINGLE_TAG",
                                     "topicName": topic, "topicSysFlag": 0, "writeQueueNums": 8} for topic in topics}}},
        separators=(",", ":")).encode()
    address = f"10.0.{number // 250}.{number % 250}"
    return frame(REGISTER, body, brokerName=f"broker{number}", brokerAddr=f"{address}:10911", clusterName="c", brokerId="0",
                 haServerAddr=f"{address}:10912", compressed="false", enableActingMaster="false",
                 bodyCrc32=str(zlib.crc32(body) & 0x7FFFFFFF))


class Namesrv(Server):
    def __init__(self, command):
        folder, port = tempfile.TemporaryDirectory(), free_port()
        with open(f"{folder.name}/properties", "w", encoding="ascii") as file:
            file.write(f"bindAddress=127.0.0.1\nlistenPort={port}\nkvConfigPath={folder.name}/kv.json\n")
        super().__init__([*command, "-c", f"{folder.name}/properties"], folder, port)
        self.address = ("127.0.0.1", port)
        self.beats = []

    def register(self, number, topics):
        """Brokers with a connection each."""
        for i in range(number):
            self.nodes.append(socket.create_connection(self.address))
            self.beats.append(registration(i, topics, 1))
        self.beat()

    def change(self, topics, counter):
        """Every broker has another version of its topics."""
        self.beats = [registration(i, topics, counter) for i in range(len(self.nodes))]

    def beat(self):
        for sock, beat in zip(self.nodes, self.beats):
            sock.sendall(beat)
            answers(sock, 1)

    def look_up(self, topic, n):
        request = frame(ROUTE, topic=topic)
        with socket.create_connection(self.address) as sock:
            for _ in range(n):
                sock.sendall(request)
                answers(sock, 1)


def registrations_per_cpu_second(server, topics):
    """Of new versions; the first rounds warm a JVM up."""
    cpu = 0
    for i in range(2 * BEATS):
        server.change(topics, 2 + i)
        _, took = server.measured(server.beat)
        cpu += took if i >= BEATS else 0
    return BEATS * NODES * len(topics) / cpu


def warm_look_ups_per_cpu_second(server, topic, n):
    server.look_up(topic, n)
    return server.per_cpu_second(n, lambda: server.look_up(topic, n))


def measure_namesrv(command):
    """Name of the row -> number."""
    rows = {}
    with contextlib.closing(Namesrv(command)) as server:
        topics = [f"topic{i}" for i in range(TOPICS)]
        server.register(NODES, topics)
        rows[f"RSS of {NODES} brokers x {TOPICS} topics, kB"] = memory_kb(server.process.pid, "VmRSS")
        rows[f"registrations, {TOPICS} topics a time, per CPU-second"] = registrations_per_cpu_second(server, topics)
        rows[f"look-ups of {NODES} brokers per CPU-second"] = warm_look_ups_per_cpu_second(server, "topic7", LOOKUPS // 4)
        server.beats[0] = registration(0, [*topics, "alone"], 100)
        server.beat()
        rows["look-ups of one broker per CPU-second"] = warm_look_ups_per_cpu_second(server, "alone", LOOKUPS * 10)
    with contextlib.closing(Namesrv(command)) as server:
        number = how_many_connections()
        server.register(number, ["t", "u"])
        rows[f"{number} brokers, a beat in {BROKER_HEARTBEAT_S} s: part of a core"] = server.part_of_a_core(BROKER_HEARTBEAT_S)
        rows[f"RSS of {number} brokers, kB"] = memory_kb(server.process.pid, "VmRSS")
    return rows


def find_namesrv():
    """RocketMQ's as a command, or None after saying why."""
    sys.path.append(str(TESTS / "interop"))
    from maven_jars import JAVA, NoJars, find_jars

    try:
        jars = find_jars(f"rocketmq-{ROCKETMQ}", JAVA / "rocketmq" / "pom.xml", f"-Drocketmq.version={ROCKETMQ}")
    except NoJars as reason:
        print(f"no namesrv to compare with: {reason}")
        return None
    return ["java", "-Xmx1g", "-Drocketmq.home.dir=.", "-Duser.home=.", "-cp", jars,
            "org.apache.rocketmq.namesrv.NamesrvStartup"]


# ---- both ----

def print_rows(ours, theirs, original):
    print(f"{'':58}  {'leat-registry':>14}  {original:>12}  ratio")
    for name, number in ours.items():
        other = theirs.get(name)
        beside = f"{other:12.4g}  {number / other:5.2f}" if other else ""
        print(f"{name:58}  {number:14.4g}  {beside}".rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--registry", required=True, help="the program")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    original = find_nsqlookupd()
    if not original:
        print("no nsqlookupd to compare with: `make interop` builds it where Go and the network are")
    print_rows(measure_nsq(options.registry), measure_nsq(original) if original else {}, "nsqlookupd")
    original = find_namesrv()
    print_rows(measure_namesrv([options.registry]), measure_namesrv(original) if original else {}, "namesrv")


if __name__ == "__main__":
    main()
