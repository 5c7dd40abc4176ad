"""nsq_programs.py - the real nsqd, nsqlookupd, nsqadmin and nsq_to_file, built once into a cache outside the tree."""
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import pytest

from leat import TIMEOUT, wait_until
from registry import program

MODULE = pathlib.Path(__file__).resolve().parent / "go" / "go.mod"
NAMES = ["nsqd", "nsqlookupd", "nsqadmin", "nsq_to_file"]


@pytest.fixture(scope="session")
def nsq_programs():
    """The folder that has them. Without Go or the network the story is skipped."""
    if shutil.which("go") is None:
        pytest.skip("no NSQ met leat-registry: there is no 'go' here")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "leat-interop"
    programs = cache / f"nsq-1.3.0-{hashlib.sha256(MODULE.read_bytes()).hexdigest()[:8]}"
    partial = programs.with_suffix(".part")
    if not programs.exists():
        shutil.rmtree(partial, ignore_errors=True)
        (partial / "module").mkdir(parents=True)
        shutil.copy(MODULE, partial / "module")
        build = subprocess.run(
            ["go", "build", "-mod=mod", "-p", "2", "-o", f"{partial}/", *(f"github.com/nsqio/nsq/apps/{n}" for n in NAMES)],
            cwd=partial / "module", capture_output=True, text=True, timeout=900, check=False)
        if build.returncode != 0:
            pytest.skip("no NSQ met leat-registry: Go cannot build its programs: " + build.stderr.strip()[-300:])
        partial.rename(programs)
    return programs


def free_ports(n):
    """Ports that nobody has right now: those of NSQ's programs that are told to pick one do not say which."""
    sockets = [socket.socket() for _ in range(n)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def ask(port, path, method="GET", data=None, **parameters):
    """(status, body): the body as JSON if it is."""
    query = f"?{urllib.parse.urlencode(parameters)}" if parameters else ""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}{query}", method=method, data=data)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
            status, text = reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read().decode()
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text


class NsqWorld:
    """NSQ's programs round one registry, ours or the original, at fixed ports."""

    def __init__(self, folder, programs, original):
        self.folder, self.programs, self.original = folder, programs, original
        self.tcp, self.http, self.nsqd_tcp, self.nsqd_http, self.admin = free_ports(5)
        self.running = {}

    def start(self, name, *command, port=None):
        log = open(self.folder / f"{name}.log", "ab")  # pylint: disable=consider-using-with
        self.running[name] = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log)
        if port is not None:
            wait_until(lambda: self.listens(name, port), f"{name} listens")

    def listens(self, name, port):
        assert self.running[name].poll() is None, (self.folder / f"{name}.log").read_text()[-2000:]
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    def start_registry(self):
        path = self.programs / "nsqlookupd" if self.original else program()
        self.start("registry", path, f"-tcp-address=127.0.0.1:{self.tcp}", f"--http-address=127.0.0.1:{self.http}",
                   "-broadcast-address", "127.0.0.1", "-inactive-producer-timeout=60s", "-tombstone-lifetime", "3s",
                   port=self.http)

    def start_nsqd(self):
        (self.folder / "data").mkdir(exist_ok=True)
        self.start("nsqd", self.programs / "nsqd", f"-lookupd-tcp-address=127.0.0.1:{self.tcp}",
                   f"-tcp-address=127.0.0.1:{self.nsqd_tcp}", f"-http-address=127.0.0.1:{self.nsqd_http}",
                   "-broadcast-address=127.0.0.1", f"-data-path={self.folder / 'data'}", port=self.nsqd_http)

    def start_admin(self):
        self.start("nsqadmin", self.programs / "nsqadmin", f"-lookupd-http-address=127.0.0.1:{self.http}",
                   f"-http-address=127.0.0.1:{self.admin}", port=self.admin)

    def start_to_file(self, topic):
        (self.folder / "out").mkdir(exist_ok=True)
        self.start("nsq_to_file", self.programs / "nsq_to_file", f"-lookupd-http-address=127.0.0.1:{self.http}",
                   f"-topic={topic}", "-channel=archive", f"-output-dir={self.folder / 'out'}",
                   "-http-client-request-timeout=5s", "-sync-interval=100ms")

    def stop(self, name):
        process = self.running.pop(name)
        process.terminate()
        return process.wait(TIMEOUT)

    def stop_all(self):
        for name in list(self.running):
            self.stop(name)

    def written(self):
        """Lines of the files that nsq_to_file has written."""
        return sorted(line for path in (self.folder / "out").iterdir() for line in path.read_text().splitlines())
