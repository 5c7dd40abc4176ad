"""leat.py - one agent for a story: writes its configuration, starts it, reads its log and metrics, stops it."""
import collections
import contextlib
import functools
import json
import os
import pathlib
import pty
import random
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pytest

TIMEOUT = 60.0  # seconds; only ever reached when something is wrong
BUSY = 4.0  # seconds that a busy machine may add to what takes a known time

Reply = collections.namedtuple("Reply", "status headers text")


def program():
    """The leat to test: $LEAT, which `make check` sets, or the one in build/."""
    return os.environ.get("LEAT") or str(pathlib.Path(__file__).resolve().parents[2] / "build" / "leat")


def free_port():
    """A port that nobody listens at, and that nobody gets who asks the system for any: it may be left and taken again."""
    first_given = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(first_given // 2, first_given)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port


@functools.lru_cache
def is_built_with(library):
    """Whether this leat has an optional library: libsoup, zlib, zstd."""
    versions = subprocess.run([program(), "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return f"{library} left out" not in versions


@functools.lru_cache
def has_address_sanitizer(path=None):
    """Of leat or another program. Then freed memory is kept for a while, and says nothing about leaks; the sanitizer itself does."""
    return b"__asan_init" in pathlib.Path(path or program()).read_bytes()


def needs(library):
    """Marks stories that only a leat with this optional library can tell."""
    return pytest.mark.skipif(not is_built_with(library), reason=f"this leat was built without {library}")


@contextlib.contextmanager
def held_until_it_begins(number):
    """Programs launched inside find this signal blocked: what comes before their first line of C waits for it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def signalled_before_it_begins(number):
    """A prefix for a program, to be launched with this signal held: it has come when the program begins."""
    return ["sh", "-c", 'kill -$0 $$; exec "$@"', str(int(number))]


def wait_until(condition, what, timeout=TIMEOUT):
    """The first true value of condition(), looked at again and again until the timeout."""
    deadline = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"timed out waiting until {what}"
        time.sleep(0.01)


def draw(command):
    """Runs a command whose stderr is a terminal. Returns what came of it, and what it drew there."""
    master, terminal = pty.openpty()
    drawn = []

    def read():
        with contextlib.suppress(OSError):  # which is how the end is told
            while data := os.read(master, 65536):
                drawn.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=terminal, timeout=TIMEOUT, check=False)
    finally:
        os.close(terminal)
        reader.join()
        os.close(master)
    return done, b"".join(drawn).decode()


class Leat:
    """`leat run` on a configuration: a dict, or YAML text. Addresses should have port 0.

    prefix: a command that runs leat in its turn, such as ["prlimit", "--nofile=40"].
    """

    def __init__(self, folder, config, log_format="json", log_level="debug", env=None, prefix=()):
        self.folder = pathlib.Path(folder)
        self.config_path = self.folder / "agent.yaml"
        self.config_path.write_text(config if isinstance(config, str) else json.dumps(config, indent=1))
        self.log_format = log_format
        self.log_level = log_level
        self.prefix = list(prefix)
        self.env = dict(os.environ, G_DEBUG="fatal-criticals", **(env or {}))
        self.log_file = None
        self.process = None

    # ---- life ----

    def start(self):
        """Starts the process; returns once it says that it has started."""
        self.launch()
        self.wait_for_log("started")
        return self

    def launch(self):
        """Starts the process and does not wait."""
        self.log_file = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command(), stderr=self.log_file, cwd=self.folder, env=self.env)
        return self

    def command(self):
        return [*self.prefix, program(), "run", "--log-format", self.log_format, "--log-level", self.log_level,
                str(self.config_path)]

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self, timeout=TIMEOUT):
        """The exit status."""
        return self.process.wait(timeout)

    def stop(self, expect=0, timeout=TIMEOUT):
        """Asks for a clean stop and asserts its exit status."""
        self.signal(signal.SIGTERM)
        status = self.wait(timeout)
        assert status == expect, f"exit status {status}, not {expect}; the log:\n{self.log_text()}"
        return self

    def kill(self):
        self.process.kill()
        return self.wait()

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    # ---- log ----

    @property
    def lines(self):
        """The whole lines of the log. What a thread logged before it answered a peer is here once the peer has the answer."""
        size = os.fstat(self.log_file.fileno()).st_size
        text = os.pread(self.log_file.fileno(), size, 0).decode(errors="backslashreplace")
        return text.split("\n")[:-1]

    def log_text(self):
        return "\n".join(self.lines)

    def log(self, message=None, **fields):
        """Entries (dicts) of the log so far with this message and these fields. JSON format only."""
        entries = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [e for e in entries
                if message in (None, e["message"]) and all(e.get(k) == v for k, v in fields.items())]

    def wait_for_log(self, message, timeout=TIMEOUT, **fields):
        """The first entry with this message and these fields (JSON), or line that holds the message (text)."""
        def find():
            if self.log_format == "json":
                return (self.log(message, **fields) or [None])[0]
            return next((line for line in self.lines if message in line), None)

        deadline = time.monotonic() + timeout
        while True:
            over = not self.is_running
            entry = find()
            if entry is not None:
                return entry
            assert not over, f"the agent ended without '{message}' {fields}; its log:\n{self.log_text()}"
            assert time.monotonic() < deadline, f"no '{message}' {fields} in the log:\n{self.log_text()}"
            time.sleep(0.01)

    # ---- addresses ----

    def address(self, component):
        """(host, port) that a source, or "http", is bound to. Skips the story if this leat has no HTTP."""
        if component == "http" and not is_built_with("libsoup"):
            pytest.skip("this leat was built without libsoup")
        host, port = self.wait_for_log("listening", component=component)["address"].rsplit(":", 1)
        return host.strip("[]"), int(port)

    def port(self, component):
        return self.address(component)[1]

    # ---- HTTP ----

    def request(self, path, method="GET", data=None):
        host, port = self.address("http")
        request = urllib.request.Request(f"http://{host}:{port}{path}", method=method, data=data)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
                return Reply(reply.status, reply.headers, reply.read().decode())
        except urllib.error.HTTPError as error:
            return Reply(error.code, error.headers, error.read().decode())

    def metric(self, name, **labels):
        """Sum of the series of this name whose labels are at least these; 0 if there is none."""
        total = 0
        for line in self.request("/metrics").text.splitlines():
            match = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if line.startswith("#") or match[1] != name:
                continue
            found = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or ""))
            if all(found.get(key) == value for key, value in labels.items()):
                total += float(match[3])
        return int(total) if total == int(total) else total

    def flume_metrics(self):
        return json.loads(self.request("/metrics.json").text)

    # ---- the process ----

    def status_kb(self, field):
        """A field of /proc/PID/status in kB: VmRSS, RssAnon, ..."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{field}:\s+(\d+) kB$", text, re.M)[1])

    def cpu_used(self):
        """Seconds of processor time since it began."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_seconds(self, during):
        """Processor time that it takes during so many seconds."""
        before = self.cpu_used()
        time.sleep(during)
        return self.cpu_used() - before

    def thread_names(self):
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/comm")
        return sorted(task.read_text().rstrip("\n") for task in tasks)

    def n_descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
