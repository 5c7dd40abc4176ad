"""test_registry_life.py - leat-registry as a process: its options and files, its log, its page, its end."""
import contextlib
import pathlib
import re
import subprocess

import pytest

from leat import BUSY, needs, wait_until
from registry import Node, Registry, joined, program
from remoting import Remoting

pytestmark = needs("libsoup")
TREE = pathlib.Path(__file__).resolve().parents[2]


def run(*arguments):
    return subprocess.run([program(), *arguments], capture_output=True, text=True, timeout=20, check=False)


@pytest.fixture
def started(tmp_path):
    """A function that starts a leat-registry with these arguments alone."""
    made = []

    def start(*arguments):
        folder = tmp_path / f"registry-{len(made)}"
        folder.mkdir()
        made.append(Registry(folder, None, arguments))
        return made[-1].start()

    yield start
    for registry in made:
        if registry.is_running:
            registry.stop()


# ---- the command line ----

def test_help_and_version():
    shown = run("--help")
    assert shown.returncode == 0 and "--inactive-producer-timeout=TIME" in shown.stdout
    assert run("-h").stdout == run("-help").stdout == run("--h").stdout == shown.stdout
    for name in ("-c FILE", "--configFile", "-p ", "--printConfigItem", "-n ADDRESSES", "--namesrvAddr", "-h\n", "--config=FILE",
                 "--log-prefix=", "--verbose"):
        assert name in shown.stdout
    version = run("-version")
    assert version.returncode == 0 and re.match(r"leat-registry \d+\.\d+\.\d+, in place of nsqlookupd 1\.3\.0 and namesrv 5\.3\.3\n",
                                                version.stdout)


def test_the_manual_knows_every_option_and_key_with_its_default():
    manual = (TREE / "docs/man/leat-registry.8").read_text().replace("\\-", "-")
    shown = run("--help").stdout

    for option in re.findall(r"^  --([a-z-]+)", shown, re.M):
        assert f"--{option}" in manual
    keys = re.findall(r"^ +([a-z-]+): (\S+)$", shown, re.M)
    assert len(keys) == 24
    for key, default in keys:
        assert re.search(rf"^ *{key}: \"?{re.escape(default)}\"?(?: +#.*)?$", manual, re.M), key


@pytest.mark.parametrize("arguments, said", [
    (["--tcp-adress=:1"], "unknown option '--tcp-adress'; did you mean '--tcp-address'?"),
    (["-x"], "unknown option '-x'; see"),
    (["-tcp-address"], "-tcp-address needs a value"),
    (["-n"], ": -n needs a value"),
    (["--n"], ": --n needs a value"),
    (["-tcp-address=abc"], ": -tcp-address: 'abc' has no port; write abc:PORT"),
    (["--broadcast-address", "a b"], ": --broadcast-address: 'a b' is no host; write a name or an address"),
    (["-tombstone-lifetime=5x"], ": -tombstone-lifetime: '5x' is not a duration; write"),
    (["-http", "abc"], ": -http: 'abc' has no port; write abc:PORT"),
    (["-verbose=maybe"], ": -verbose: 'maybe' is neither true nor false"),
    (["--log-level=loud"], "--log-level: 'loud' is none of its values; write error, warning, info or debug"),
    (["a.yaml", "b.yaml"], "'b.yaml' is one too many"),
    (["-config", "a.toml", "b.yaml"], "two configurations"),
])
def test_a_wrong_command_line_is_told_in_one_line(arguments, said):
    shown = run(*arguments)

    assert shown.returncode == 2 and said in shown.stderr and shown.stderr.count("\n") == 1


def test_every_problem_of_a_file_is_shown(tmp_path):
    (tmp_path / "r.yaml").write_text("http: nowhere\nnsqlookupd:\n  tcp-adress: ':1'\n  max-connections: 0\nnamsrv: {}\n")
    shown = run(str(tmp_path / "r.yaml"))

    assert shown.returncode == 1
    assert [line.split(" ")[0] for line in shown.stderr.splitlines()] == [
        f"{tmp_path}/r.yaml:1:7:", f"{tmp_path}/r.yaml:3:3:", f"{tmp_path}/r.yaml:4:20:", f"{tmp_path}/r.yaml:5:1:"]
    assert "did you mean 'tcp-address'?" in shown.stderr


def test_options_of_nsqlookupd_are_taken_as_it_spells_them(started):
    made = started("-tcp-address", "127.0.0.1:0", "--http-address=127.0.0.1:0", "-broadcast-address=me.example",
                   "-inactive-producer-timeout=0m2.5s", "-tombstone-lifetime", "1m30s", "-verbose", "-log-prefix=x",
                   "-log-level=info")

    assert b'"broadcast_address":"me.example"' in Node(made.tcp).identify()
    assert made.log("option ignored", detail="'log-prefix' has no effect here")
    assert not made.log("listening", component="http")
    node = joined(made, "t")
    made.wait_for_log("node is silent, look-ups pass it over")
    assert node.command("PING") == b"OK"


def test_the_file_of_nsqlookupd_is_read_and_options_beat_it(started, tmp_path):
    (tmp_path / "lookupd.cfg").write_text(
        '## as it comes with NSQ\nlog_level = "warn"\ntcp_address = "127.0.0.1:0"\nhttp_address = "0.0.0.0:1"\n'
        "# broadcast_address = \"\"\nbroadcast_address = 'file.example' # why not\ntombstone_lifetime = \"45s\"\n"
        "some_thing = 5\n[nsqlookupd]\nhttp_address = \"0.0.0.0:2\"\n")
    made = started("-http-address=127.0.0.1:0", "-config", str(tmp_path / "lookupd.cfg"))

    assert b'"broadcast_address":"file.example"' in Node(made.tcp).identify()
    assert made.log("option ignored", detail=f"{tmp_path}/lookupd.cfg:8: 'some_thing' has no effect here")
    assert made.log("option ignored", detail=f"{tmp_path}/lookupd.cfg:10: 'http_address' has no effect below a [heading]; "
                    "move it above the first one")


def test_a_bad_file_of_nsqlookupd_is_refused(tmp_path):
    (tmp_path / "lookupd.cfg").write_text('log_level = "warn"\ntcp_address\nhttp_address = "open\n')
    shown = run("-config", str(tmp_path / "lookupd.cfg"))

    assert shown.returncode == 1
    assert "lookupd.cfg:2:1: " in shown.stderr and "lookupd.cfg:3:1: " in shown.stderr
    assert "it cannot be read" in run("-config", str(tmp_path / "none")).stderr


@pytest.mark.parametrize("text, said", [
    ('broadcast_address = ""\n', "1:1: broadcast_address: '' is no host; write a name or an address"),
    ('log_level = "loud"\n', "1:1: log_level: 'loud' is none of its values; write error, "),
    ('\ntcp_address = "abc"\n', "2:1: tcp_address: 'abc' has no port; write abc:PORT"),
    ("tcp_address = 127.0.0.1:5160 # ours\n", "1:15: tcp_address: '127.0.0.1:5160' is no number and neither true nor false; "
     'write it in quotes, "127.0.0.1:5160"'),
    ('inactive_producer_timeout = "5"\n', "1:1: inactive_producer_timeout: '5' has no unit; write"),
])
def test_a_bad_value_of_nsqlookupd_is_refused_with_line_key_and_remedy(tmp_path, text, said):
    path = tmp_path / "lookupd.cfg"
    path.write_text(text)
    shown = run("-config", str(path))

    assert shown.returncode == 1 and shown.stderr.startswith(f"{path}:{said}") and shown.stderr.count("\n") == 1


@pytest.mark.parametrize("value", ["", "a b", "host:4161", "a/b", "x" * 254])
def test_a_broadcast_address_that_is_no_host_is_refused(tmp_path, value):
    path = tmp_path / "r.yaml"
    path.write_text(f'nsqlookupd:\n  broadcast-address: "{value}"\n')
    shown = run(str(path))

    assert shown.returncode == 1
    assert shown.stderr.startswith(f"{path}:2:22: nsqlookupd.broadcast-address: '{value[:253]}' is no host; write ")


def test_an_address_in_use_is_an_error_that_names_it(registry, namesrv):
    first, name_server = registry(http="127.0.0.1:0"), namesrv()
    taken = {name: "%s:%d" % first.address(name) for name in ("nsqlookupd-tcp", "nsqlookupd-http", "http")}
    for second, key in [(registry(start=False, tcp_address=taken["nsqlookupd-tcp"]), "nsqlookupd.tcp-address"),
                        (registry(start=False, http_address=taken["nsqlookupd-http"]), "nsqlookupd.http-address"),
                        (registry(start=False, http=taken["http"]), "http"),
                        (namesrv(start=False, listen="%s:%d" % name_server.namesrv), "namesrv.listen")]:
        assert second.launch().wait() == 1
        (entry,) = second.log("the registry cannot start")
        assert entry["error"].startswith(f"{key}: cannot listen on 127.0.0.1:")


@pytest.mark.parametrize("name, kv_config", [
    ("conf/registry.yaml", "/tmp/leat-kvConfig.json"),
    ("packaging/registry.yaml", "/var/lib/leat-registry/kvConfig.json"),
])
def test_the_ready_made_files_are_good_and_keep_their_file_where_they_say(tmp_path, name, kv_config):
    text = (TREE / name).read_text()
    assert f"  kv-config-path: {kv_config}\n" in text
    text = text.replace("0.0.0.0:", "127.0.0.1:").replace(f"path: {kv_config}", f"path: {tmp_path}/kv.json")
    made = Registry(tmp_path, re.sub(r"127\.0\.0\.1:(41\d\d|9876)\"", '127.0.0.1:0"', text))
    made.start()

    assert made.ask("/ping").text == "OK" and not made.log("the folder of the KV configuration is not there")
    with contextlib.closing(Remoting(made.address("namesrv"))) as client:
        assert client.ask(100, namespace="n", key="k", value="v").code == 0
    assert (tmp_path / "kv.json").exists()
    made.stop()


# ---- the log ----

def test_what_happens_is_logged_once_with_who_and_why(registry):
    made = registry()
    node = joined(made, "t", "c")
    peer = "%s:%d" % node.socket.getsockname()
    node.command("UNREGISTER t c")
    made.post("/topic/tombstone", topic="t", node="node1.example:4151")
    node.close()
    made.wait_for_log("node left")

    who = {"node": "node1.example:4151", "peer": peer}
    assert len(made.log("node joined", **who)) == 1
    assert len(made.log("registered", topic="t", channel="c", **who)) == 1
    assert len([e for e in made.log("registered", topic="t", **who) if "channel" not in e]) == 1
    assert len(made.log("unregistered", topic="t", channel="c", **who)) == 1
    assert len(made.log("asked over HTTP", action="tombstone", topic="t", name="node1.example:4151")) == 1
    assert len(made.log("node is under a tombstone", topic="t", **who)) == 1
    assert len(made.log("node left", reason="the node closed the connection", registrations=1, **who)) == 1


def test_what_an_identity_lacks_is_logged(registry):
    made = registry()
    Node(made.tcp).identify(b'{"broadcast_address":"a","tcp_port":1,"version":"v","http_port":0}')

    assert made.wait_for_log("body refused")["detail"] == "E_BAD_BODY IDENTIFY missing fields: it lacks http_port"


# ---- nodes come and go ----

def test_a_node_that_flaps_is_seen_as_it_is(registry):
    made = registry()
    for i in range(100):
        node = joined(made, "t", "c")
        (node.reset if i % 2 else node.close)()

    wait_until(lambda: made.producers("t") == [], "the last has left")
    assert len(made.log("node joined")) == len(made.log("node left")) == 100
    assert made.json("/lookup", topic="t") == {"channels": ["c"], "producers": []}
    assert made.metric("leat_registry_registrations") == 0


def test_a_stale_unregister_does_not_touch_a_newer_connection(registry):
    made = registry()
    old = joined(made, "t", "c")
    fresh = joined(made, "t", "c")
    assert len(made.producers("t")) == 2
    assert made.ask("/").text.count("a newer connection has this address") == 1

    assert old.command("UNREGISTER t") == b"OK"
    assert made.producers("t") == ["node1.example"]
    old.reset()
    made.wait_for_log("node left")
    assert made.producers("t") == ["node1.example"]
    assert fresh.command("PING") == b"OK"


def test_after_a_restart_nodes_register_again_and_all_is_as_before(registry):
    made = registry()
    nodes = [joined(made, "t", "c", broadcast_address=f"n{i}") for i in range(5)]
    before = made.ask("/lookup?topic=t")
    made.restart()

    assert all(node.is_at_end() for node in nodes)
    assert made.ask("/lookup?topic=t").status == 404
    again = [joined(made, "t", "c", broadcast_address=f"n{i}") for i in range(5)]
    after = made.ask("/lookup?topic=t")
    assert re.sub(r"127.0.0.1:\d+", "", after.text) == re.sub(r"127.0.0.1:\d+", "", before.text)
    assert int(after.headers["X-Leat-Index"]) > int(before.headers["X-Leat-Index"]) and again
    assert int(after.headers["X-Leat-Epoch"]) > int(before.headers["X-Leat-Epoch"])


# ---- people ----

def test_the_page_shows_nodes_topics_and_who_is_about_to_go(registry):
    made = registry(http="127.0.0.1:0", inactive_producer_timeout="2s", tombstone_lifetime="60s")
    node = joined(made, "t", "c")
    made.post("/topic/tombstone", topic="t", node="node1.example:4151")

    for component in ("http", "nsqlookupd-http"):
        page = made.ask("/", component=component)
        assert page.status == 200 and page.headers["Content-Type"] == "text/html; charset=utf-8"
        assert "default-src 'none'" in page.headers["Content-Security-Policy"]
        assert '<th scope="row">node1.example:4150</th>' in page.text and "offered by no node" in page.text
        assert not re.search(r"(src|href)=\"(?!/)", page.text) and "http://" not in page.text

    def is_about_to_go():
        page = made.ask("/").text
        if "silent, passed over" in page:  # already: we have looked too late
            node.command("PING")
        return "about to be passed over" in page

    wait_until(is_about_to_go, "the node has nearly used up its patience")
    wait_until(lambda: "silent, passed over" in made.ask("/").text, "it has")
    assert node.command("PING") == b"OK"


def test_the_page_names_the_nodes_of_a_topic_and_marks_who_is_under_a_tombstone(registry):
    made = registry(http="127.0.0.1:0", tombstone_lifetime="60s")
    nodes = [joined(made, "few", "c", broadcast_address="a")]
    assert "<p>1 node, 1 topic, 1 channel, 2 registrations, 0 under a tombstone.</p>" in made.ask("/").text
    nodes += [joined(made, "many", broadcast_address=f"n{i}", tcp_port=1, http_port=2) for i in range(12)]
    nodes += [joined(made, "few", broadcast_address="b")]
    made.post("/topic/tombstone", topic="few", node="b:4151")
    made.post("/topic/tombstone", topic="many", node="n11:2")
    page = made.ask("/").text

    assert '<th scope="row">n0:1</th><td>n0:2</td>' in page
    assert "<td>b:4151 <strong>(under a tombstone)</strong>, a:4151</td>" in page
    assert f"<td>n11:2 <strong>(under a tombstone)</strong>, {', '.join(f'n{i}:2' for i in range(9))} and 2 more</td>" in page
    assert "<td>c</td>" in page and "<td>none</td>" in page and nodes


def test_the_page_says_that_there_is_nothing(registry):
    page = registry(http="127.0.0.1:0").ask("/").text

    assert "<p>0 nodes, 0 topics, " in page
    assert re.findall(r"<tbody>\n(.*)\n</tbody>", page) == ["<tr><td>none</td></tr>"] * 2


def test_pages_are_on_both_addresses_and_routes_of_nsq_on_one(registry):
    made = registry(http="127.0.0.1:0")

    for component in ("http", "nsqlookupd-http"):
        assert made.ask("/healthz", component=component).text == "ok\n"
        assert made.ask("/metrics", component=component).text.startswith("# HELP leat_registry_connections ")
        assert made.ask("/", "HEAD", component).status == 200
    assert made.ask("/topics", component="http").status == 404


# ---- the end ----

def test_a_stop_closes_everything_and_says_how_long_it_took(registry):
    made = registry()
    nodes = [joined(made, "t") for _ in range(20)]
    made.stop()

    assert all(node.is_at_end() for node in nodes)
    assert made.log("stopped")[0]["ms"] < BUSY * 1000
    assert len(made.log("node left", reason="the registry stops")) == 20
