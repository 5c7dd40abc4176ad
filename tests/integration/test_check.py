"""test_check.py - `leat check` finds everything that is wrong at once, draws what is right, and opens nothing."""
import os
import pathlib
import shutil
import socket
import subprocess

import pytest

from leat import is_built_with, program

TOP = pathlib.Path(__file__).resolve().parents[2]

GOOD = """\
agent: { name: edge, http: "127.0.0.1:0" }
sources:
  apps: { type: thrift, listen: "127.0.0.1:0", channels: [buffer, audit] }
channels:
  buffer: { type: memory }
  audit: { type: memory }
sinks:
  debug: { type: logger, channel: buffer }
  nothing: { type: null, channel: audit }
"""


@pytest.fixture
def check(tmp_path):
    """Runs `leat check` on a text, in an empty folder."""
    def run(text, *options, stdin=None, locale="C.UTF-8", **env):
        (tmp_path / "agent.yaml").write_text(text)
        return subprocess.run([program(), "check", *options, "agent.yaml" if stdin is None else "-"], input=stdin,
                              capture_output=True, text=True, encoding="utf-8", timeout=20, cwd=tmp_path,
                              env=dict(os.environ, G_DEBUG="fatal-criticals", LC_ALL=locale, **env))
    return run


def test_a_good_file_is_drawn(check):
    result = check(GOOD)

    assert result.returncode == 0 and result.stderr == ""
    metrics = "at 127.0.0.1:0" if is_built_with("libsoup") else "off (built without HTTP)"
    assert result.stdout.startswith(f"agent edge, metrics {metrics}\n")
    for name in ("apps", "127.0.0.1:0", "buffer", "audit", "debug", "nothing", "─►│"):
        assert name in result.stdout


def test_a_terminal_without_utf8_gets_ascii(check):
    assert check(GOOD, locale="C").stdout.isascii()
    assert not check(GOOD).stdout.isascii()


def test_the_same_from_standard_input(check):
    assert check("", stdin=GOOD).stdout == check(GOOD).stdout
    bad = check("", stdin="sinks: [\n")
    assert bad.returncode == 1 and bad.stderr.startswith("<stdin>:")


def test_the_same_from_a_process_substitution(check):
    result = subprocess.run(["bash", "-c", f"{program()} check <(cat)"], input=GOOD, capture_output=True, text=True, timeout=20,
                            check=True)

    assert result.stdout == check(GOOD).stdout


def test_graphviz_reads_what_it_is_given(check):
    result = check(GOOD, "--dot")

    assert result.returncode == 0
    assert '"sources.apps" -> "channels.audit";' in result.stdout
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=result.stdout, capture_output=True, text=True, check=True)


def test_nothing_is_opened(check, tmp_path):
    taken = socket.create_server(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    text = GOOD.replace('listen: "127.0.0.1:0"', f'listen: "127.0.0.1:{port}"').replace(
        "type: logger", "type: file, directory: out")

    assert check(text).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["agent.yaml"]


def test_every_problem_is_shown_in_one_run_with_place_and_remedy(check):
    result = check("""\
agent: { shutdown-timeout: 10 parsecs }
sources:
  apps:
    type: thrift
    listen: "0.0.0.0:4141"
    max-frame: 300MiB
    chanels: [buffer]
    channels: [bufer]
    interceptors: [{ type: timestmp }]
  more: { type: thrift, listen: ":4141", channels: small, threads: lots }
channels:
  buffer: { type: memory, capacity: 0 }
  small: { type: memory, byte-capacity: 1MiB }
  spare: { type: memory, type: memory }
sinks:
  archive: { type: file, channel: buffer, directory: "${LEAT_TEST_UNSET}" }
  debug: { type: loger, channel: small }
""")

    assert result.returncode == 1 and result.stdout == ""
    assert [line.split(": ")[0] + ": " + line.split(": ")[1] for line in result.stderr.splitlines()] == [
        "agent.yaml:1:28: agent.shutdown-timeout",
        "agent.yaml:6:16: sources.apps.max-frame",
        "agent.yaml:7:5: sources.apps",
        "agent.yaml:8:16: sources.apps.channels[0]",
        "agent.yaml:9:28: sources.apps.interceptors[0].type",
        "agent.yaml:10:33: sources.more.listen",
        "agent.yaml:10:68: sources.more.threads",
        "agent.yaml:12:37: channels.buffer.capacity",
        "agent.yaml:13:41: channels.small.byte-capacity",
        "agent.yaml:14:3: channels.spare",
        "agent.yaml:14:3: channels.spare",
        "agent.yaml:14:26: channels.spare.type",
        "agent.yaml:16:54: sinks.archive.directory",
        "agent.yaml:17:18: sinks.debug.type",
    ]


@pytest.mark.parametrize("first, second, collide", [
    (":4141", "0.0.0.0:4141", True),
    (":4141", "[::1]:4141", True),
    ("0.0.0.0:4141", "127.0.0.1:4141", True),
    ("[::]:4141", "[::1]:4141", True),
    ("[::1]:4141", "[0:0::1]:4141", True),
    ("LOCALHOST:4141", "127.0.0.1:4141", True),
    ("hub.example:4141", "0.0.0.0:4141", True),
    ("0.0.0.0:4141", "[::]:4141", False),
    ("127.0.0.1:4141", "127.0.0.2:4141", False),
    (":4141", ":4142", False),
    (":0", ":0", False),
])
def test_two_sources_cannot_share_an_address(check, first, second, collide):
    result = check(GOOD.replace('"127.0.0.1:0", channels: [buffer, audit] }',
                                f'"{first}", channels: buffer }}\n'
                                f'  more: {{ type: thrift, listen: "{second}", channels: audit }}'))

    if not collide:
        assert result.returncode == 0, result.stderr
        return
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("agent.yaml:4:33: sources.more.listen: '") and "sources.apps" in result.stderr


@pytest.mark.parametrize("first, second, collide", [
    ("/var/lib/leat/a", "/var/lib/leat/a", True),
    ("/var/lib/leat/a", "/var/lib//leat/b/../a/", True),
    ("spool", "./spool", True),
    ("/var/lib/leat/a", "/var/lib/leat/b", False),
])
def test_two_channels_cannot_share_a_directory(check, first, second, collide):
    result = check(GOOD.replace("buffer: { type: memory }", f"buffer: {{ type: file, directory: {first} }}")
                   .replace("audit: { type: memory }", f"audit: {{ type: spillable, directory: {second} }}"))

    if not collide:
        assert result.returncode == 0, result.stderr
        return
    assert result.returncode == 1
    assert result.stderr == (f"agent.yaml:6:40: channels.audit.directory: '{second}' is taken, as channels.buffer keeps "
                             f"its events in '{first}'; each channel needs a directory of its own\n")


def test_metrics_cannot_share_an_address_with_a_source(check):
    result = check(GOOD.replace('listen: "127.0.0.1:0"', 'listen: ":41414"').replace(', http: "127.0.0.1:0"', ""))

    assert result.returncode == 1
    assert result.stderr.startswith("agent.yaml:3:33: sources.apps.listen: ':41414' is taken, as agent.http listens on "
                                    "'127.0.0.1:41414'")


def test_a_frame_must_fit_into_the_channel_and_into_memory(check):
    channel = check(GOOD.replace("audit: { type: memory", "audit: { type: memory, byte-capacity: 1MiB"))
    frame = check(GOOD.replace("type: thrift", "type: thrift, max-frame: 300MiB"))

    assert channel.stderr.startswith("agent.yaml:6:41: channels.audit.byte-capacity: 1 MiB holds less than max-frame "
                                     "(15.6 MiB) of sources.apps, ")
    assert channel.stderr.count("\n") == 1
    lines = frame.stderr.splitlines()
    assert len(lines) == 3 and all(line.startswith("agent.yaml:3:36: sources.apps.max-frame: ") for line in lines)
    assert "channels.buffer" in frame.stderr and "channels.audit" in frame.stderr and "300 MiB is above receive-memory (256 MiB)" in frame.stderr


def test_the_environment_is_used_before_anything_is_checked(check):
    text = GOOD.replace("127.0.0.1:0\", channels", "127.0.0.1:${PORT}\", channels").replace("null", '"${SINK:-null}"')

    assert check(text, PORT="0").returncode == 0
    assert "PORT is not set" in check(text).stderr
    assert "127.0.0.1:70000" in check(text, PORT="70000").stderr
    assert "there is no sink of type 'nil'" in check(text, PORT="0", SINK="nil").stderr


AGENTS = sorted(path for path in (TOP / "conf").glob("*.yaml") if path.name != "registry.yaml")


@pytest.mark.parametrize("path", AGENTS, ids=lambda path: path.name)
def test_the_configurations_that_come_with_leat_are_right(path):
    assert path.read_text().startswith(f"# {path.name} - ")
    result = subprocess.run([program(), "check", str(path)], capture_output=True, text=True, timeout=20)

    problems = [line for line in result.stderr.splitlines() if "this leat was built without" not in line]
    assert problems == [] and (result.returncode == 0 or result.stderr), result.stderr


def test_a_file_of_the_registry_is_told_from_one_of_an_agent():
    path = TOP / "conf/registry.yaml"
    result = subprocess.run([program(), "check", str(path)], capture_output=True, text=True, timeout=20, check=False)

    assert result.returncode == 1 and result.stderr.count("\n") == 1
    assert "nsqlookupd: this is a file of leat-registry, not of an agent; give it to leat-registry" in result.stderr


SEEKER = """\
agent: { name: edge, http: "off" }
sources: { a: { type: sequence, channels: x } }
channels: { x: { type: memory } }
sinks:
  out:
    type: thrift
    channel: x
    discovery:
      - { type: namesrv, addresses: ["one:9876", "two:9876"], topic: logs, namespace: qa }
      - { type: namesrv, addresses: ["two:9876"], topic: others }
"""


def test_a_sink_that_finds_its_hosts_is_drawn_with_where_it_looks(check):
    result = check(SEEKER)

    assert "logs at one:9876, two:9876" in result.stdout and "others at two:9876" in result.stdout, result.stderr


@pytest.mark.parametrize("change, problem", [
    (("two:9876\"], topic: logs", "ONE:9876\"], topic: logs"), "9:37: sinks.out.discovery[0].addresses: 'one:9876'"),
    (("topic: others", "topic: \"qa%logs\""), "10:37: sinks.out.discovery[1].addresses: 'two:9876'"),
])
def test_what_would_be_asked_twice_is_a_problem(check, change, problem):
    result = check(SEEKER.replace(*change))

    assert result.stderr == f"agent.yaml:{problem} is asked the same twice; name it once\n"
