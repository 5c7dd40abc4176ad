"""test_flume_client.py - the real Java RpcClient of Apache Flume sends to leat, and every event arrives as it was.

Without Java, Maven or the network the stories are skipped, which shows in the last lines of the run.
"""
import base64
import json
import subprocess

import pytest

from flume_jars import JAVA, flume_jars  # noqa: F401 (a fixture)

N_EVENTS = 10000
TEXT = 'Grüße, 世界 "quoted" \\ \t 🚀'


def configuration(folder, protocol):
    return {
        "agent": {"http": "127.0.0.1:0"},
        "sources": {"flume": {"type": "thrift", "listen": "127.0.0.1:0", "protocol": protocol, "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory"}},
        "sinks": {"files": {"type": "file", "channel": "buffer", "directory": str(folder), "format": "json"}},
    }


def read_events(folder):
    """(kind, number) → (headers, body) of every record in the files of a folder, and the number of records."""
    events, n_records = {}, 0
    for path in folder.iterdir():
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            body = base64.b64decode(record["body_base64"]) if "body_base64" in record else record["body"].encode()
            events[record["headers"]["kind"], int(record["headers"]["number"])] = record["headers"], body
            n_records += 1
    return events, n_records


def expected_event(kind, number):
    headers = {"kind": kind, "number": str(number), "text": TEXT, "empty": ""}
    return headers, f"{kind} {number}".encode() + (b"\0\xff\n\x80" if number % 2 else b"")


@pytest.mark.parametrize("accepts", ["auto", "as sent"])
@pytest.mark.parametrize("protocol", ["compact", "binary"])
def test_every_event_of_the_java_client_arrives_as_it_was(leat, flume_jars, tmp_path, protocol, accepts):  # noqa: F811
    folder = tmp_path / "events"
    folder.mkdir()
    agent = leat(configuration(folder, protocol if accepts == "as sent" else "auto"))

    sender = subprocess.run(
        ["java", "-cp", flume_jars, JAVA / "FlumeSender.java", str(agent.port("flume")), protocol, str(N_EVENTS)],
        capture_output=True, text=True, timeout=300, check=False)
    agent.stop()

    assert sender.returncode == 0, sender.stderr
    events, n_records = read_events(folder)
    assert n_records == 2 * N_EVENTS
    for kind in ("single", "batch"):
        for number in range(N_EVENTS):
            assert events[kind, number] == expected_event(kind, number)
