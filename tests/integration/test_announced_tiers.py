"""test_announced_tiers.py - agents find agents: an edge that names no host, collectors that announce themselves, one registry
between them, in either language. Collectors come, go and die; registries restart; no number is missing."""
import json
import signal
import time

import pytest

from leat import BUSY, needs, wait_until
from tiers import edge

pytestmark = needs("libsoup")


class Nsq:
    """Both ends of a registry that is taken for nsqlookupd."""

    def __init__(self, registry):
        self.make = registry
        self.made = registry()

    def registration(self, _name):
        return {"type": "nsqlookupd", "tcp-addresses": ["%s:%d" % self.made.tcp], "topic": "logs", "heartbeat": "1s"}

    def discovery(self):
        return {"type": "nsqlookupd", "http-addresses": ["%s:%d" % self.made.address("nsqlookupd-http")], "topic": "logs"}

    def restart(self, end="stop"):
        tcp, http = self.made.tcp, self.made.address("nsqlookupd-http")
        getattr(self.made, end)()
        self.made = self.make(tcp_address="%s:%d" % tcp, http_address="%s:%d" % http)


class RocketMq:
    """Both ends of a registry that is taken for namesrv."""

    def __init__(self, registry):
        self.make = registry
        self.made = registry()

    def registration(self, name):
        return {"type": "namesrv", "addresses": ["%s:%d" % self.made.namesrv], "broker": name, "topics": [{"name": "logs"}],
                "heartbeat": "1s"}

    def discovery(self):
        return {"type": "namesrv", "addresses": ["%s:%d" % self.made.namesrv], "topic": "logs", "poll-interval": "500ms"}

    def restart(self, end="stop"):
        address = self.made.namesrv
        getattr(self.made, end)()
        self.made = self.make(listen="%s:%d" % address)


def both_addresses(one, other):
    """The same configuration, with the addresses of both."""
    return {key: value + other[key] if key.endswith("addresses") else value for key, value in one.items()}


class Two:
    """Two registries that know nothing of each other."""

    def __init__(self, one, other):
        self.one, self.other = one, other

    def registration(self, name):
        return both_addresses(self.one.registration(name), self.other.registration(name))

    def discovery(self):
        return both_addresses(self.one.discovery(), self.other.discovery())


def make_between(request):
    return Nsq(request.getfixturevalue("registry")) if request.param == "nsqlookupd" else RocketMq(
        request.getfixturevalue("namesrv"))


@pytest.fixture(params=["nsqlookupd", "namesrv"])
def between(request):
    return make_between(request)


@pytest.fixture(params=["nsqlookupd", "namesrv"])
def two(request):
    return Two(make_between(request), make_between(request))


class Collector:
    """An agent that announces itself and keeps what it gets in a file channel, and then in files."""

    def __init__(self, leat, folder, name, between):
        self.folder = folder / name
        self.folder.mkdir()
        self.config = {
            "agent": {"name": name, "http": "off"},
            "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["spool"]}},
            "channels": {"spool": {"type": "file", "directory": str(folder / f"{name}-spool")}},
            "sinks": {"files": {"type": "file", "channel": "spool", "directory": str(self.folder), "format": "json"}},
            "registration": [between.registration(name)],
        }
        self.leat = leat
        self.agent = leat(self.config)
        self.agent.wait_for_log("registered")

    @property
    def address(self):
        return "%s:%d" % self.agent.address("apps")

    def bodies(self):
        lines = (line for path in self.folder.iterdir() for line in path.read_text(encoding="utf-8").splitlines(True))
        return [json.loads(line)["body"] for line in lines if line.endswith("\n")]

    def start_again(self):
        self.agent = self.leat(self.config)


@pytest.fixture
def collect(leat, tmp_path):
    made = []

    def make(between):
        made.append(Collector(leat, tmp_path, f"collector-{len(made)}", between))
        return made[-1]

    make.all = made
    return make


def start_edge(leat, between):
    whole = edge([], {"rate": 2000, "batch-size": 20}, {"discovery": [between.discovery()], "client": "load-balance",
                                                        "linger": "0s", "batch-size": 50})
    del whole["sinks"]["out"]["hosts"]
    return leat(whole)


def wait_for_more(*collectors):
    before = [len(collector.bodies()) for collector in collectors]
    wait_until(lambda: all(len(c.bodies()) > n for c, n in zip(collectors, before)), "each gets more")


def assert_nothing_is_missing(sender, collectors):
    n_accepted = sender.metric("leat_source_events_accepted_total")
    sender.stop()
    assert sender.log("stopped")[0]["events_lost"] == 0

    def arrived():
        return {int(body) for collector in collectors for body in collector.bodies()}

    wait_until(lambda: len(arrived()) >= max(n_accepted, max(arrived()) + 1), "every number has arrived")


def test_collectors_come_stop_and_die(leat, collect, between):
    first, second = collect(between), collect(between)
    sender = start_edge(leat, between)
    wait_for_more(first, second)

    third = collect(between)
    joined = time.monotonic()
    sender.wait_for_log("host joined", peer=third.address)
    assert time.monotonic() - joined < 1 + BUSY
    wait_for_more(first, second, third)

    first.agent.stop()
    wait_for_more(second, third)
    second.agent.kill()
    wait_for_more(third)

    second.start_again()
    first.start_again()
    wait_for_more(first, second, third)
    assert_nothing_is_missing(sender, collect.all)


def test_a_registry_that_restarts_stops_no_traffic(leat, collect, between):
    first, second = collect(between), collect(between)
    sender = start_edge(leat, between)
    wait_for_more(first, second)

    between.restart()
    for collector in (first, second):
        wait_until(lambda: len(collector.agent.log("registered")) == 2, "it is registered again")
    wait_for_more(first, second)

    assert not sender.log("host left")
    third = collect(between)
    wait_for_more(third)
    assert_nothing_is_missing(sender, collect.all)


def test_one_of_two_registries_is_cut_off_and_the_other_killed(leat, collect, two):
    collectors = collect(two), collect(two)
    sender = start_edge(leat, two)
    wait_for_more(*collectors)

    two.one.made.process.send_signal(signal.SIGSTOP)
    two.other.restart("kill")
    back = time.monotonic()
    address = "%s:%d" % (two.other.made.tcp if isinstance(two.other, Nsq) else two.other.made.namesrv)
    for collector in collectors:
        wait_until(lambda c=collector: len(c.agent.log("registered", peer=address)) == 2, "it is registered again")
    assert time.monotonic() - back < 1 + BUSY
    third = collect(two)
    wait_for_more(*collectors, third)
    two.one.made.process.send_signal(signal.SIGCONT)
    wait_for_more(*collectors, third)

    assert not sender.log("host left")
    assert_nothing_is_missing(sender, collect.all)
