#!/usr/bin/env python3
"""bench.py - runs leat beside the physical limits of this machine, interleaved, and prints the ratios.

See README.md in this folder. Exit status 0 whatever the numbers: a benchmark judges, it does not gate.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "interop"), str(TESTS / "integration")]

from flume_agent import FlumeAgent  # noqa: E402
from flume_jars import find_flume  # noqa: E402

HEADERS = ["--headers", "2", "--body", "300"]
BATCHES = ["--connections", "4", "--batch", "1000"] + HEADERS
SINGLES = ["--connections", "64", "--batch", "0"] + HEADERS
IDLE_CONNECTIONS = 10000
SHORT_QUEUE = 16000  # events: what a processor's cache holds
LINK_DELAY_MS = 20
FLUME_CAPACITY = 1000000  # events, its default
FLUME_SECONDS = 3  # to warm up, and then of the measurement
TICKS = os.sysconf("SC_CLK_TCK")

CONFIGURATION = """\
agent: {{ name: bench, http: "127.0.0.1:{http}" }}
sources:
  inbound: {{ type: thrift, listen: "127.0.0.1:{port}", max-connections: 12000, channels: [buffer] }}
channels:
  buffer: {{ {channel} }}
sinks:
  onward: {{ channel: buffer, {sink} }}
"""
NULL_SINK = "type: null"
MEMORY = "type: memory"


def thrift_sink(port, more=""):
    return f"type: thrift, hosts: ['127.0.0.1:{port}'], {more}"


def file_channel(folder):
    return f"type: file, directory: {folder}, capacity: 100000000, reserve: 0B"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition, what, seconds=30):
    """The first true value of condition, asked again every millisecond."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.001)
    raise RuntimeError(f"{what} did not happen within {seconds} s")


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_kb(pid, name):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(rf"^{name}:\s+(\d+) kB", status.read(), re.M).group(1))


class Limit:
    """A limit server: what it has answered has arrived."""

    def __init__(self, programs, answer, threads):
        self.process = subprocess.Popen([f"{programs}/limit_server", answer, str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.client_options = ["--echo"] if answer == "echo" else []

    def arrived(self, load):
        return load["end"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Relay(Limit):
    """Takes bytes to a server and back, with a delay like a long link; an answer comes from the far end."""

    client_options = []

    def __init__(self, programs, port, delay_ms=0):
        self.process = subprocess.Popen([f"{programs}/relay", str(port), str(delay_ms)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())


class Agent:
    """A running leat; what its sink has delivered has arrived."""

    client_options = []

    def __init__(self, leat, sink=NULL_SINK, channel=MEMORY):
        self.folder = tempfile.TemporaryDirectory()
        self.port, self.http = free_port(), free_port()
        path = f"{self.folder.name}/agent.yaml"
        with open(path, "w", encoding="ascii") as out:
            out.write(CONFIGURATION.format(port=self.port, http=self.http, sink=sink, channel=channel))
        self.log = open(f"{self.folder.name}/log", "w+", encoding="utf-8")
        begin = time.monotonic()
        self.process = subprocess.Popen([leat, "run", path], stderr=self.log)
        try:
            until(lambda: is_listening(self.port) or self.process.poll() is not None, "a listening leat")
        finally:
            self.start_seconds = time.monotonic() - begin
        if self.process.poll() is not None:
            self.log.seek(0)
            raise RuntimeError(f"leat did not start:\n{self.log.read()}")
        until(lambda: is_listening(self.http), "the metrics page")
        self.delivered_before = 0

    def metric(self, name):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics", timeout=10) as page:
            rows = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", page.read().decode(), re.M)
        return sum(float(row) for row in rows)

    def arrived(self, load):
        self.delivered_before += load["events"]
        until(lambda: self.metric("leat_sink_events_delivered_total") >= self.delivered_before, "the last delivery")
        return time.monotonic()

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.log.close()
        self.folder.cleanup()


class Flume:
    """A running Apache Flume with the same parts; what its sink has drained has arrived."""

    client_options = []

    def __init__(self, far_end_port, channel):
        sink = {"type": "thrift", "hostname": "127.0.0.1", "port": far_end_port, "batch-size": 1000}
        self.http = free_port()
        monitoring = ("-Xmx1g", "-Dflume.monitoring.type=http", f"-Dflume.monitoring.port={self.http}")
        jars = find_flume()
        self.folder = tempfile.TemporaryDirectory()
        self.agent = FlumeAgent(jars, f"{self.folder.name}/flume", "compact", channel, sink, monitoring)
        try:
            self.agent.start()
        except BaseException:
            self.close()
            raise
        self.process, self.port, self.drained_before = self.agent.process, self.agent.port, 0

    def drained(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics", timeout=10) as page:
            return int(json.load(page)["SINK.k"]["EventDrainSuccessCount"])

    def arrived(self, load):
        self.drained_before += load["events"]
        until(lambda: self.drained() >= self.drained_before, "Flume's last delivery", 120)
        return time.monotonic()

    def close(self):
        self.agent.kill()
        self.folder.cleanup()


class Bench:
    def __init__(self, options):
        self.options = options
        self.threads = max(1, min(4, os.cpu_count()))
        self.rows = []

    def load(self, server, shape, seconds=None):
        """One run of the load generator: events a second until the last has arrived, CPU µs an event."""
        command = [f"{self.options.programs}/loadgen", "--port", str(server.port), "--threads", "2", "--seconds",
                   str(seconds or self.options.seconds), *shape, *server.client_options]
        cpu = cpu_seconds(server.process.pid)
        load = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        duration = server.arrived(load) - load["start"]
        if load["refused"]:
            print(f"  {load['refused']} events were refused", flush=True)
        return load["events"] / duration, (cpu_seconds(server.process.pid) - cpu) * 1e6 / max(load["events"], 1)

    def row(self, path, ours, limit, target, met):
        self.rows.append((path, ours, limit, target, {True: "yes", False: "NO", None: ""}[met]))

    def ratio_row(self, path, ours, limits, target):
        ratios = [our[0] / limit[0] for our, limit in zip(ours, limits)]
        ratio = statistics.median(ratios)
        words = [f"{statistics.median(rate for rate, _ in side) / 1e6:.2f} M/s, "
                 f"{statistics.median(cpu for _, cpu in side):.3f} µs CPU" for side in (ours, limits)]
        self.row(path, words[0], words[1], f"ratio {ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f}), at least {target:.2f}",
                 ratio >= target)

    def once(self, server, shape):
        with contextlib.closing(server):
            self.load(server, shape, 0.2)
            return self.load(server, shape)

    def in_turns(self, start_server, start_limit, shape):
        """What a server and its limit reach: pairs of events a second and CPU. How the memory of a process lies in the
        caches is luck, and lasts as long as the process: each measurement has its own."""
        rounds = [(self.once(start_limit(), shape), self.once(start_server(), shape)) for _ in range(self.options.rounds)]
        return [ours for _, ours in rounds], [limits for limits, _ in rounds]

    def against_limit(self, path, shape, answer, target):
        self.ratio_row(path, *self.in_turns(lambda: Agent(self.options.leat),
                                            lambda: Limit(self.options.programs, answer, self.threads), shape), target)

    def against_relay(self, path, channel, target):
        with contextlib.closing(Limit(self.options.programs, "ok", self.threads)) as far_end:
            self.ratio_row(path, *self.in_turns(lambda: Agent(self.options.leat, thrift_sink(far_end.port), channel),
                                                lambda: Relay(self.options.programs, far_end.port), BATCHES), target)

    def beside_flume(self, path, our_channel, their_channel):
        """One after the other, as far apart as they are. A virtual machine needs to be warm."""
        with contextlib.closing(Limit(self.options.programs, "ok", self.threads)) as far_end:
            try:
                server = Flume(far_end.port, their_channel)
            except Exception as reason:  # whatever it is: leat can be measured without
                print(f"  no Apache Flume beside leat: {reason}", flush=True)
                return
            with contextlib.closing(server) as flume:
                self.load(flume, BATCHES, FLUME_SECONDS)
                theirs = self.load(flume, BATCHES, FLUME_SECONDS)
            ours = self.once(Agent(self.options.leat, thrift_sink(far_end.port), our_channel), BATCHES)
        words = [f"{rate / 1e6:.2f} M/s, {cpu:.3f} µs CPU" for rate, cpu in (ours, theirs)]
        self.row(path, *words, f"{ours[0] / theirs[0]:.0f} times", None)

    def memory_beside_flume(self):
        self.beside_flume(f"the same beside Apache Flume 1.11, {SHORT_QUEUE} events", f"{MEMORY}, capacity: {SHORT_QUEUE}",
                          {"type": "memory", "capacity": SHORT_QUEUE, "transactionCapacity": 1000})

    def file_beside_flume(self):
        """On the same disk; Flume, too, syncs each batch before its answer."""
        with tempfile.TemporaryDirectory(dir=self.options.disk) as folder:
            theirs = pathlib.Path(folder).resolve() / "flume"
            self.beside_flume("file channel, 4 connections, beside Apache Flume 1.11's", file_channel(f"{folder}/leat"),
                              {"type": "file", "checkpointDir": theirs / "checkpoint", "dataDirs": theirs / "data",
                               "capacity": FLUME_CAPACITY, "transactionCapacity": 1000, "minimumRequiredSpace": 1 << 20})

    def sync_loop(self, folder):
        """Events a second that a loop appends and syncs, alone with the disk."""
        command = [f"{self.options.programs}/sync_loop", f"{folder}/loop", str(self.options.seconds)]
        loop = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        os.unlink(f"{folder}/loop")
        return loop["events"] / (loop["end"] - loop["start"]), 0

    def file_channel(self):
        """Beside the loop that appends and syncs the same bytes, in turns, on the same disk."""
        with tempfile.TemporaryDirectory(dir=self.options.disk) as folder, \
                contextlib.closing(Limit(self.options.programs, "ok", self.threads)) as far_end, \
                contextlib.closing(Agent(self.options.leat, thrift_sink(far_end.port), file_channel(folder))) as agent:
            self.load(agent, BATCHES, 0.3)
            rounds = [(self.sync_loop(folder), self.load(agent, BATCHES)) for _ in range(self.options.rounds)]
            self.ratio_row("file channel, each batch synced, thrift sink, 4 connections, 1000 x 300 B",
                           [ours for _, ours in rounds], [loops for loops, _ in rounds], 0.70)
            names = ["leat_file_channel_written_events_total", "leat_file_channel_syncs_total"]
            before = [agent.metric(name) for name in names]
            rate = self.load(agent, SINGLES)[0]
            events, syncs = [agent.metric(name) - old for name, old in zip(names, before)]
        self.row("file channel, single appends, 64 connections", f"{events / syncs:.1f} events a sync, {rate / 1e3:.1f} k/s", "",
                 "at least 20 a sync", events / syncs >= 20)

    def backlog(self):
        """Nobody takes what comes; then leat starts again on what is there, with its checkpoint and without."""
        size = 1e9 if self.options.quick else 5e9
        with tempfile.TemporaryDirectory(dir=self.options.disk) as folder:
            channel = file_channel(folder) + ", sync: never"
            nowhere = thrift_sink(free_port())
            with contextlib.closing(Agent(self.options.leat, nowhere, channel)) as agent:
                while agent.metric("leat_file_channel_disk_bytes") < size:
                    self.fill(agent)
                rss = memory_kb(agent.process.pid, "VmRSS") / 1000
            times = []
            for checkpoint in (True, False):
                if not checkpoint:
                    os.unlink(f"{folder}/checkpoint")
                with contextlib.closing(Agent(self.options.leat, nowhere, channel)) as agent:
                    times.append(agent.start_seconds)
        gigabytes = size / 1e9
        self.row(f"file channel, {gigabytes:.0f} GB behind: VmRSS", f"{rss:.1f} MB, 67 of it cache", "", "at most 99 MB", rss <= 99)
        for name, seconds, most in (("with", times[0], 2), ("without", times[1], 5)):
            self.row(f"start with {gigabytes:.0f} GB in a file channel, {name} a checkpoint", f"{seconds:.2f} s", "",
                     f"at most {most} s a GB", seconds <= most * gigabytes)

    def fill(self, agent):
        command = [f"{self.options.programs}/loadgen", "--port", str(agent.port), "--threads", "2", "--seconds", "1", *BATCHES]
        subprocess.run(command, check=True, capture_output=True)

    def over_a_long_link(self):
        """The channel is small, so that the sink is not long behind when the client ends."""
        with contextlib.closing(Limit(self.options.programs, "ok", self.threads)) as far_end, \
                contextlib.closing(Relay(self.options.programs, far_end.port, LINK_DELAY_MS)) as link:
            rates = []
            for in_flight in (1, 8):
                sink = thrift_sink(link.port, f"in-flight: {in_flight}")
                with contextlib.closing(Agent(self.options.leat, sink, f"{MEMORY}, capacity: {SHORT_QUEUE}")) as agent:
                    rates.append(self.load(agent, BATCHES, 2)[0])
        one, eight = rates
        self.row(f"thrift sink, {LINK_DELAY_MS} ms each way, in-flight 8 beside 1", f"{eight / 1e3:.1f} k/s",
                 f"{one / 1e3:.1f} k/s", f"{eight / one:.1f} times, at least 6", eight >= 6 * one)

    def two_idle_hops(self):
        probe = subprocess.Popen([f"{self.options.programs}/hop_latency", "200"], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        port = int(probe.stdout.readline())
        with contextlib.closing(Agent(self.options.leat, thrift_sink(port))) as second, \
                contextlib.closing(Agent(self.options.leat, thrift_sink(second.port))) as first:
            times = json.loads(probe.communicate(f"{first.port}\n")[0])
        self.row("one event through two idle hops",
                 f"median {times['median']} µs (99%: {times['p99']}, worst {times['worst']})", "",
                 "at most 1000 µs", times["median"] <= 1000)

    def starts(self):
        times = []
        for _ in range(self.options.rounds):
            with contextlib.closing(Agent(self.options.leat)) as agent:
                times.append(agent.start_seconds * 1e3)
        median = statistics.median(times)
        self.row("start to listening", f"{median:.1f} ms (worst {max(times):.1f})", "", "at most 50 ms", median <= 50)

    def idle_memory(self):
        with contextlib.closing(Agent(self.options.leat)) as agent:
            agent.metric("leat_sink_events_delivered_total")
            time.sleep(3)  # what the start left behind is given back after two seconds
            rss, anonymous = memory_kb(agent.process.pid, "VmRSS"), memory_kb(agent.process.pid, "RssAnon")
        self.row("idle, HTTP on: VmRSS", f"{rss / 1000:.1f} MB", "", "at most 10 MB", rss <= 10000)
        self.row("idle, HTTP on: RssAnon", f"{anonymous / 1000:.1f} MB", "", "at most 4 MB", anonymous <= 4000)

    def hold(self, agent, number):
        """Connections that have each sent one event and then fall silent."""
        command = [f"{self.options.programs}/loadgen", "--port", str(agent.port), "--threads", "1", "--hold",
                   "--connections", str(number), "--batch", "0"]
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        agent.delivered_before += json.loads(holder.stdout.readline())["events"]
        return holder

    def release(self, agent, holder):
        holder.stdin.close()
        holder.wait()
        until(lambda: agent.metric("leat_source_open_connections") == 0, "the end of all connections")

    def idle_connections(self):
        number = min(IDLE_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 500)
        with contextlib.closing(Agent(self.options.leat)) as agent:
            time.sleep(3)
            before = memory_kb(agent.process.pid, "RssAnon")
            holder = self.hold(agent, number)
            time.sleep(3)
            each = (memory_kb(agent.process.pid, "RssAnon") - before) * 1024 / number
            self.release(agent, holder)
            alone, among = [], []
            for _ in range(self.options.rounds):
                alone.append(self.load(agent, BATCHES))
                holder = self.hold(agent, number)
                among.append(self.load(agent, BATCHES))
                self.release(agent, holder)
        self.row(f"{number} idle connections", f"{each:.0f} bytes each", "", "at most 4096 bytes", each <= 4096)
        self.ratio_row(f"null sink, with {number} idle beside without", among, alone, 0.90)

    def relays(self):
        self.against_relay(f"thrift sink, 4 connections, {SHORT_QUEUE} events in the channel", f"{MEMORY}, capacity: {SHORT_QUEUE}", 0.70)
        self.against_relay("the same, the channel at its default", MEMORY, 0.70)

    def run(self):
        paths = {
            "null": lambda: self.against_limit("null sink, 4 connections, 1000 x 300 B", BATCHES, "ok", 0.70),
            "single": lambda: self.against_limit("single appends, 64 connections, 300 B", SINGLES, "echo", 0.80),
            "relay": self.relays,
            "flume": self.memory_beside_flume,
            "file": self.file_channel,
            "flume-file": self.file_beside_flume,
            "backlog": self.backlog,
            "link": self.over_a_long_link,
            "hops": self.two_idle_hops,
            "connections": self.idle_connections,
            "memory": self.idle_memory,
            "start": self.starts,
        }
        for name, measure in paths.items():
            if self.options.only in ("", name):
                measure()

    def print_table(self):
        rows = [("path", "leat", "limit", "target", "met")] + self.rows
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        for row in rows:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--leat", required=True, help="the program")
    parser.add_argument("--programs", required=True, help="the folder of loadgen and limit_server")
    parser.add_argument("--disk", default=".", help="a folder on the disk that file channels are measured on")
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=11, help="of each pair of measurements")
    parser.add_argument("--only", default="", metavar="PATH",
                        help="null, single, relay, flume, file, flume-file, backlog, link, hops, connections, memory or start")
    parser.add_argument("--quick", action="store_true", help="about a minute: half a second, 5 rounds")
    options = parser.parse_args()
    if options.quick:
        options.seconds, options.rounds = 0.5, 5
    return options


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    bench = Bench(parse_options())
    cores, load = os.cpu_count(), os.getloadavg()[0]
    print(f"{cores} cores, load {load:.2f}" + (": others work here too, the ratios are rough" if load > 0.5 else ""))
    try:
        bench.run()
    except (RuntimeError, subprocess.SubprocessError, OSError) as failure:
        print(f"stopped: {failure}")
    bench.print_table()


if __name__ == "__main__":
    main()
