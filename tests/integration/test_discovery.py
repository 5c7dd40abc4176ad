"""test_discovery.py - an edge that names no host: registries tell it of collectors, which come, go, and are killed."""
import collections
import contextlib
import http.server
import json
import subprocess
import threading
import time
import urllib.parse

import pytest

from far_end import FarEnd
from leat import BUSY, TIMEOUT, needs, program, wait_until
from registry import Node
from tiers import assert_whole, edge, wait_for_more

pytestmark = needs("libsoup")

TOPIC = "collectors"


class Collector(FarEnd):
    """A Thrift source that its nodes have told registries of."""

    def __init__(self, path, *registries):
        super().__init__(path)
        self.nodes = []
        self.join(*registries)

    def join(self, *registries):
        for registry in registries:
            self.announce(registry.tcp)

    def announce(self, *addresses):
        for address in addresses:
            node = Node(address, broadcast_address=self.host, tcp_port=self.port, http_port=self.port)
            node.identify()
            self.nodes.append(node.register(TOPIC))

    def leave(self):
        for node in self.nodes:
            node.socket.close()
        self.nodes = []

    def kill(self):
        super().kill()
        self.leave()


@pytest.fixture
def collect(tmp_path):
    """A function that starts a Collector, known to the registries given."""
    made = []

    def make(*registries):
        made.append(Collector(tmp_path / f"collector-{len(made)}", *registries))
        return made[-1]

    yield make
    for each in made:
        each.close()
        each.leave()


class PlainLookup:
    """An nsqlookupd as far as look-ups go, without a watch."""

    def __init__(self, *hosts):
        self.hosts = list(hosts)
        self.asked = []  # queries
        self.may_answer = threading.Event()
        self.may_answer.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # nobody waits for it any more
                    self.answer()

            def answer(self):
                outer.asked.append(urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query))
                outer.may_answer.wait(TIMEOUT)
                producers = [{"broadcast_address": host.host, "tcp_port": host.port, "http_port": 1} for host in outer.hosts]
                body = json.dumps({"channels": [], "producers": producers}).encode()
                self.send_response(200)
                self.send_header("X-NSQ-Content-Type", "nsq; version=1.0")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def lookup(self):
        return "127.0.0.1:%d" % self.server.server_address[1]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


Host = collections.namedtuple("Host", ["host", "port"])


@pytest.fixture
def plain_lookup():
    made = []

    def make(*hosts):
        made.append(PlainLookup(*hosts))
        return made[-1]

    yield make
    for each in made:
        each.close()


def http_address(registry):
    return "%s:%d" % registry.address("nsqlookupd-http")


def finder(addresses, sequence=None, sink=None, **discovery):
    """An edge that finds its hosts. When it stops it does not wait long for some that take what is left."""
    config = edge([], {"rate": 1000, "batch-size": 10, **(sequence or {})}, sink, **{"shutdown-timeout": "500ms"})
    del config["sinks"]["out"]["hosts"]
    config["sinks"]["out"]["discovery"] = {"type": "nsqlookupd", "http-addresses": addresses, "topic": TOPIC, **discovery}
    return config


def n_hosts(agent):
    return agent.metric("leat_thrift_sink_hosts")


# ---- who comes and goes ----


def test_an_edge_without_a_host_sends_to_the_first_that_joins_within_a_second(collect, leat, registry):
    names = registry()
    agent = leat(finder([http_address(names)], sink={"backoff": "30s", "max-backoff": "60s"}))
    agent.wait_for_log("delivery failed, backing off")

    joined = time.monotonic()
    far = collect(names)
    far.wait_for(1)

    assert 0 < far.times[0] - joined < 1 + BUSY
    agent.wait_for_log("host joined", peer=far.address)


def test_one_that_joins_later_has_its_share_within_a_second(collect, leat, registry):
    names = registry()
    first = collect(names)
    leat(finder([http_address(names)]))
    first.wait_for(10)

    joined = time.monotonic()
    second = collect(names)
    second.wait_for(1)

    assert 0 < second.times[0] - joined < 1 + BUSY
    wait_for_more([first], 1)


def test_one_that_is_killed_is_left_at_once_and_nothing_is_lost(collect, leat, registry):
    names = registry()
    ends = [collect(names), collect(names)]
    agent = leat(finder([http_address(names)]))
    for end in ends:
        end.wait_for(50)

    killed = time.monotonic()
    ends[0].kill()
    agent.wait_for_log("host left", peer=ends[0].address)

    assert time.monotonic() - killed < 0.1 + BUSY
    wait_for_more([ends[1]], 500)
    agent.stop()
    assert_whole(ends[0].bodies + ends[1].bodies)


def test_one_that_leaves_gets_nothing_more_and_keeps_what_it_acknowledged(collect, leat, registry):
    names = registry()
    ends = [collect(names), collect(names)]
    agent = leat(finder([http_address(names)], sink={"linger": "0s", "batch-size": 10}))
    for end in ends:
        end.wait_for(50)

    names.post("/topic/tombstone", topic=TOPIC, node=ends[0].address)
    agent.wait_for_log("host left", peer=ends[0].address)
    wait_until(lambda: n_hosts(agent) == 1, "one host is left")
    wait_for_more([ends[1]], 50)  # what was on its way to the other has arrived
    n_kept = len(ends[0].bodies)
    wait_for_more([ends[1]], 200)

    assert len(ends[0].bodies) == n_kept
    assert agent.metric("leat_thrift_sink_host_failures_total") == 0
    agent.stop()
    assert assert_whole(ends[0].bodies + ends[1].bodies) == 0


def test_each_time_that_one_comes_or_goes_has_a_line(collect, leat, registry):
    names = registry()
    far = collect(names)
    agent = leat(finder([http_address(names)]))

    for n in (1, 2, 3):
        wait_until(lambda n=n: len(agent.log("host joined", peer=far.address)) == n, f"it has joined {n} times")
        far.leave()
        wait_until(lambda n=n: len(agent.log("host left", peer=far.address)) == n, f"it has left {n} times")
        far.join(names)


def test_a_registry_that_names_many_hosts_fills_no_log(leat, plain_lookup):
    names = plain_lookup(*(Host(f"127.0.1.{n}", 1) for n in range(100)))
    agent = leat(finder([names.lookup]))
    wait_until(lambda: n_hosts(agent) == 100, "it has found them")
    failed = agent.wait_for_log("delivery failed, backing off")

    assert [line["peer"] for line in agent.log("host joined")][20:] == ["80 more"]
    assert len(failed["error"]) < 3000 and failed["error"].endswith("; and others")


def test_a_thousand_hosts_that_are_all_dead_are_tried_in_seconds(leat, plain_lookup):
    names = plain_lookup(*(Host(f"127.0.{n // 250 + 1}.{n % 250 + 1}", 1) for n in range(1000)))
    names.may_answer.clear()
    agent = leat(finder([names.lookup]))
    wait_until(lambda: agent.metric("leat_channel_events") > 1000, "many batches wait")

    names.may_answer.set()
    found = time.monotonic()
    agent.wait_for_log("delivery failed, backing off")

    assert time.monotonic() - found < 3 + BUSY


def test_what_cannot_be_a_host_is_none(collect, leat, plain_lookup):
    far = collect()
    names = plain_lookup(*(Host(odd, 1) for odd in ("a b", "a\nb", "x" * 254, "%n", "*", "256.1.1.1")), far)
    agent = leat(finder([names.lookup]))
    wait_for_more([far], 10)

    assert n_hosts(agent) == 1 and len(agent.log("host joined")) == 1


def test_hosts_that_came_later_have_counters_of_their_own(collect, leat, registry):
    names = registry()
    agent = leat(finder([http_address(names)]))
    ends = [collect(names), collect(names)]
    ends[0].wait_for(10)

    node = ends[0].nodes.pop()  # the registry still knows it
    ends[0].kill()

    wait_until(lambda: agent.metric("leat_thrift_sink_host_failures_total", peer=ends[0].address) > 0, "it is counted")
    assert agent.metric("leat_thrift_sink_host_failures_total", peer=ends[1].address) == 0
    assert 'peer=""' not in agent.request("/metrics").text
    node.socket.close()


# ---- registries that fail ----


def test_registries_that_are_down_at_the_start_are_waited_for_and_channels_fill(collect, leat, registry):
    names = registry()
    address, options = http_address(names), ["-tcp-address=%s:%d" % names.tcp, "-http-address=" + http_address(names)]
    names.stop()
    agent = leat(finder([address], sink={"backoff": "30s"}))

    agent.wait_for_log("trouble with a registry", peer=address)
    wait_until(lambda: agent.metric("leat_channel_events") > 20, "the channel fills")
    health = agent.request("/healthz")
    assert (health.status, health.text) == (503, "sink 'out': no host is known: no registry has answered yet\n")
    names.options = options + names.options
    names.start()
    far = collect(names)

    far.wait_for(20)
    assert agent.request("/healthz").status == 200
    assert agent.log("recovered", peer=address)


def test_a_sink_without_a_host_is_no_trouble_where_another_of_its_group_delivers(leat):
    config = finder(["127.0.0.1:1"])
    config["sinks"]["spare"] = {"type": "null", "channel": config["sinks"]["out"]["channel"]}
    config["sink-groups"] = {"both": {"processor": "failover", "sinks": ["out", "spare"]}}
    agent = leat(config)

    wait_until(lambda: agent.metric("leat_sink_events_delivered_total", component="spare") > 0, "the spare one delivers")
    assert agent.request("/healthz").status == 200


def test_a_look_up_under_way_is_no_failure_yet(collect, leat, plain_lookup):
    far = collect()
    lookup = plain_lookup(far)
    lookup.may_answer.clear()
    agent = leat(finder([lookup.lookup]))
    wait_until(lambda: lookup.asked and agent.metric("leat_channel_events") > 20, "events wait")

    assert agent.request("/healthz").text == "sink 'out': no host is known: no registry has answered yet\n"
    lookup.may_answer.set()
    far.wait_for(50)

    assert agent.request("/healthz").status == 200
    assert not agent.log("delivery failed, backing off")
    assert agent.metric("leat_sink_batches_retried_total") == 0


def test_an_edge_that_waits_for_its_first_look_up_stops_when_it_is_told_to(leat, plain_lookup):
    lookup = plain_lookup()
    lookup.may_answer.clear()
    config = finder([lookup.lookup])
    config["agent"]["shutdown-timeout"] = "100ms"
    agent = leat(config)
    wait_until(lambda: lookup.asked and agent.metric("leat_channel_events") > 20, "events wait")

    told = time.monotonic()
    agent.stop()

    assert time.monotonic() - told < 0.5 + BUSY
    lookup.may_answer.set()


def test_a_stop_during_the_first_look_up_is_quick_and_leaves_the_events_in_the_file_channel(leat, plain_lookup, tmp_path):
    lookup = plain_lookup()
    lookup.may_answer.clear()
    config = finder([lookup.lookup])
    config["channels"]["buffer"] = {"type": "file", "directory": str(tmp_path / "spool")}
    begun = time.monotonic()
    agent = leat(config)
    wait_until(lambda: lookup.asked and agent.metric("leat_channel_events") > 20, "events wait")

    agent.stop()

    assert time.monotonic() - begun < 0.9 + BUSY  # a sink waits for its first host for 5 s
    lookup.may_answer.set()
    kept = subprocess.run([program(), "channel", "cat", str(tmp_path / "spool")], capture_output=True, text=True, check=True)
    assert_whole(kept.stdout.split())


def test_a_registry_that_restarts_costs_no_host(collect, leat, registry):
    names = registry()
    ends = [collect(names), collect(names)]
    agent = leat(finder([http_address(names)]))
    wait_until(lambda: n_hosts(agent) == 2, "both are found")

    names.restart()
    wait_for_more(ends, 100)
    ends[0].join(names)
    wait_until(lambda: names.producers(TOPIC), "one is registered again")
    wait_for_more([ends[1]], 200)
    ends[1].join(names)
    wait_for_more(ends, 100)

    assert n_hosts(agent) == 2
    assert not agent.log("host left")


def test_one_registry_of_two_is_enough(collect, leat, registry):
    dead, alive = registry(), registry()
    address = http_address(dead)
    dead.stop()
    far = collect(alive)
    agent = leat(finder([address, http_address(alive)]))

    far.wait_for(10)
    agent.wait_for_log("trouble with a registry", peer=address)
    assert agent.request("/healthz").status == 200


def test_what_two_registries_know_is_put_together(collect, leat, registry):
    some, others = registry(), registry()
    ends = [collect(some), collect(others), collect(some, others)]
    agent = leat(finder([http_address(some), http_address(others)]))

    for end in ends:
        end.wait_for(10)
    wait_until(lambda: n_hosts(agent) == 3, "all are counted")


def test_hosts_that_are_named_are_the_first_view(collect, leat):
    far = collect()
    config = finder(["127.0.0.1:1"])
    config["sinks"]["out"]["hosts"] = [far.address]
    agent = leat(config)

    far.wait_for(10)
    agent.wait_for_log("trouble with a registry")
    assert agent.request("/healthz").status == 200


def test_the_port_for_tcp_is_told_from_the_one_for_http(leat, registry):
    names = registry()
    agent = leat(finder(["%s:%d" % names.tcp]))

    line = agent.wait_for_log("trouble with a registry")
    assert f"port {names.tcp[1]} is nsqlookupd's for TCP" in line["detail"]
    assert "4161" in line["detail"]


def test_a_registry_that_is_back_with_another_trouble_has_a_line_for_that_too(leat, registry):
    names = registry()
    tcp = "%s:%d" % names.tcp
    options = ["-tcp-address=" + tcp, "-http-address=" + http_address(names)]
    names.stop()
    agent = leat(finder([tcp]))
    refused = agent.wait_for_log("trouble with a registry", peer=tcp)
    wait_until(lambda: agent.metric("leat_thrift_sink_lookups_failed_total") >= 2, "it has failed again")

    names.options = options + names.options
    names.start()
    wait_until(lambda: len(agent.log("trouble with a registry", peer=tcp)) > 1, "the other trouble is told")

    details = [line["detail"] for line in agent.log("trouble with a registry", peer=tcp)]
    assert details[0] == refused["detail"]
    assert len(details) == 2 and f"port {names.tcp[1]} is nsqlookupd's for TCP" in details[1]


# ---- an nsqlookupd that has no watch ----


def test_a_registry_without_a_watch_is_polled(collect, leat, plain_lookup):
    first, second = collect(), collect()
    lookup = plain_lookup(first)
    leat(finder([lookup.lookup], **{"poll-interval": "200ms", "namespace": "qa"}))
    first.wait_for(10)

    lookup.hosts.append(second)
    second.wait_for(10)

    assert lookup.asked[:2] == [{"topic": ["qa." + TOPIC]}] * 2


def test_a_connection_that_breaks_is_followed_by_a_look_up_at_once(collect, leat, plain_lookup):
    first, second = collect(), collect()
    lookup = plain_lookup(first)
    leat(finder([lookup.lookup], **{"poll-interval": "1h"}))
    first.wait_for(10)

    lookup.hosts.append(second)
    killed = time.monotonic()
    first.kill()
    second.wait_for(10)

    assert 0 < second.times[0] - killed < 1 + BUSY
    assert len(lookup.asked) <= 2 + 2 * (time.monotonic() - killed)


# ---- `leat send --discover` ----


def send(*arguments, **keywords):
    return subprocess.run([program(), "send", *arguments], capture_output=True, text=True, timeout=60, check=False, **keywords)


def test_lines_are_sent_to_hosts_that_a_registry_names(collect, registry):
    names = registry()
    ends = [collect(names), collect(names)]
    place = f"nsqlookupd://{http_address(names)},127.0.0.1:1/{TOPIC}"

    done = send("--discover", place, "--client", "load-balance", "--batch", "1", input="".join(f"{n}\n" for n in range(10)))

    assert done.returncode == 0, done.stderr
    assert [len(end.bodies) for end in ends] == [5, 5]


def test_a_registry_that_names_no_host_is_told_when_time_is_over(registry):
    names = registry()

    for timeout in ("200ms", "2s", "10s"):  # as long as the machine needs for an answer
        done = send("--discover", f"nsqlookupd://{http_address(names)}/{TOPIC}", "--timeout", timeout, input="1\n")
        if "it names no host" in done.stderr:
            break

    assert done.returncode == 1
    assert done.stderr == ("leat send: cannot connect, nothing was sent: no host is found: "
                           f"{http_address(names)}: it names no host of the topic\n")


@pytest.mark.parametrize("arguments, problem", [
    (["--discover", "registry1:4161"], "--discover: 'registry1:4161' does not say where to look; write KIND://"),
    (["--discover", "consul://a:1/t"], "'consul' is none of the choices"),
    (["--discover", "nsqlookupd://a/t"], "--discover: "),
    (["--discover", "nsqlookupd://a:1/a%20b"], "is no topic of nsqlookupd"),
    (["--discover", "nsqlookupd://a:1/"], "is no topic of nsqlookupd"),
    (["--discover", "namesrv://a:1/a.b"], "is no topic of namesrv"),
    (["--discover", "namesrv://a:1/t", "--to", "b:1"], "give one of the two"),
    (["--discover", "namesrv://a:1/t", "--client", "single"], "single has one host"),
])
def test_a_place_that_is_none_is_one_line_and_exit_2(arguments, problem):
    done = send(*arguments, input="")

    assert done.returncode == 2
    assert problem in done.stderr and done.stderr.count("\n") == 1
