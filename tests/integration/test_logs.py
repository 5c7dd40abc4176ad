"""test_logs.py - what the log of an agent looks like."""
import json
import re
import subprocess
import sys
import urllib.request

import pytest

from leat import TIMEOUT, needs, program, wait_until

CONFIG = {
    "agent": {"name": "story", "http": "off"},
    "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"]},
                "numbers": {"type": "sequence", "rate": 0, "count": 20, "size": 30, "channels": ["buffer"]}},
    "channels": {"buffer": {"type": "memory"}},
    "sinks": {"show": {"type": "logger", "channel": "buffer", "max-bytes": 5}},
}
TEXT_LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|info|debug) +([\w-]+): (.*)")


def test_every_line_of_text_has_time_level_and_thread(leat):
    agent = leat(CONFIG, log_format="text")
    agent.wait_for_log("source has nothing more to send")
    agent.stop()

    parts = [TEXT_LINE.fullmatch(line) for line in agent.lines]
    assert all(parts), agent.log_text()
    assert {part[2] for part in parts} == {"lifecycle", "numbers", "show"}
    assert any(part[3].startswith("listening component=apps address=127.0.0.1:") for part in parts)


def test_every_line_of_json_is_an_object_with_the_same_four_keys(leat):
    agent = leat(CONFIG)
    agent.wait_for_log("source has nothing more to send")
    agent.stop()

    entries = [json.loads(line) for line in agent.lines]
    assert entries and all({"time", "level", "thread", "message"} <= set(entry) for entry in entries)


def test_the_logger_sink_shows_the_first_bytes_of_each_event(leat):
    agent = leat(CONFIG)
    agent.wait_for_log("source has nothing more to send")
    agent.stop()

    events = agent.log("event", sink="show")
    assert [event["body"] for event in events] == [f"{n}....."[:5] + "..." for n in range(20)]
    assert {event["bytes"] for event in events} == {30}


def test_the_level_decides_what_is_written(leat):
    config = {**CONFIG, "agent": {"http": "off", "shutdown-timeout": "1s"},
              "sinks": {"refusing": {"type": "null", "channel": "buffer", "refuse": True}}}
    agent = leat(config, log_level="warning", start=False).launch()
    agent.wait_for_log("delivery failed, backing off")
    agent.stop()

    assert {entry["level"] for entry in agent.log()} == {"warning", "error"}


@needs("libsoup")
def test_a_log_that_nobody_reads_stops_neither_events_nor_the_end(tmp_path):
    path = tmp_path / "agent.yaml"
    path.write_text(json.dumps({
        "agent": {"http": "127.0.0.1:0"},
        "sources": {"numbers": {"type": "sequence", "rate": 5000, "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory"}},
        "sinks": {"show": {"type": "logger", "channel": "buffer"}}}))
    agent = subprocess.Popen([program(), "run", str(path)], stderr=subprocess.PIPE, text=True)
    try:
        [port] = re.findall(r"address=127.0.0.1:(\d+)", agent.stderr.readline())

        def n_delivered():
            text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT).read().decode()
            return int(re.search(r"^leat_sink_events_delivered_total\{.*\} (\d+)$", text, re.M)[1])

        wait_until(lambda: n_delivered() > 2000, "more went on than a pipe holds")
        assert any("the log was stuck, lines are left out" in line for line in agent.stderr)
        n_seen = n_delivered()
        wait_until(lambda: n_delivered() > n_seen + 2000, "it is stuck again")
        agent.terminate()
        assert agent.wait(TIMEOUT) == 0
    finally:
        agent.kill()
        agent.stderr.close()
        agent.wait()


# Runs in a mount namespace of its own, so that it may be the journal.
JOURNAL = """
import os, socket, subprocess, sys
os.makedirs("/run/systemd/journal")
entries = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
entries.bind("/run/systemd/journal/socket")
stdout = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
stdout.bind("/run/systemd/journal/stdout")
stdout.listen()
stderr = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
stderr.connect("/run/systemd/journal/stdout")
agent = subprocess.Popen(sys.argv[1:], stderr=stderr)
entries.settimeout(60)
entry = b""
while b"listening" not in entry:
    entry = entries.recv(65536)
agent.terminate()
agent.wait(60)
print(entry.decode(), end="")
"""


def test_the_journal_gets_fields(tmp_path):
    namespace = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*namespace, "mount -t tmpfs none /run"], check=False, stderr=subprocess.PIPE).returncode != 0:
        pytest.skip("no mount namespaces here")
    path = tmp_path / "agent.yaml"
    path.write_text(json.dumps({**CONFIG, "sinks": {"nothing": {"type": "null", "channel": "buffer"}}}))
    command = [sys.executable, "-c", JOURNAL, program(), "run", str(path)]
    shown = subprocess.run([*namespace, 'mount -t tmpfs none /run && exec "$@"', "sh", *command], check=True,
                           stdout=subprocess.PIPE, text=True, timeout=2 * TIMEOUT).stdout.splitlines()

    assert {"SYSLOG_IDENTIFIER=leat", "PRIORITY=6", "LEAT_THREAD=lifecycle", "LEAT_COMPONENT=apps"} <= set(shown)
    assert any(re.fullmatch(r"MESSAGE=lifecycle: listening component=apps address=127.0.0.1:\d+", line) for line in shown)
