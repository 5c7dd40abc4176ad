"""numbered_events.py - the events that FlumeSender.java sends, and how leat's file sink writes them."""
import base64
import json
import subprocess

import pytest

from maven_jars import JAVA

KINDS = ("single", "batch")
TEXT = 'Grüße, 世界 "quoted" \\ \t 🚀'


@pytest.fixture
def start_sender(flume_jars):
    """A function that starts to send so many events of each kind to a Thrift source. What still runs at the end is killed."""
    senders = []

    def start(port, protocol, n_each):
        sender = subprocess.Popen(
            ["java", "-Xmx256m", "-cp", flume_jars, JAVA / "FlumeSender.java", str(port), protocol, str(n_each)],
            stderr=subprocess.PIPE, text=True)
        senders.append(sender)
        return sender

    yield start
    for sender in senders:
        sender.kill()
        sender.communicate()


def finish_sender(sender):
    """Every event was accepted."""
    errors = sender.communicate(timeout=300)[1]
    assert sender.returncode == 0, errors


def key_of(headers):
    return headers["kind"], int(headers["number"])


def expected_event(kind, number):
    headers = {"kind": kind, "number": str(number), "text": TEXT, "empty": ""}
    return headers, f"{kind} {number}".encode() + (b"\0\xff\n\x80" if number % 2 else b"")


def read_json_events(folder):
    """[(headers, body)] of every record in the files of a folder."""
    events = []
    for path in folder.iterdir():
        for line in path.read_text(encoding="utf-8").splitlines(True):
            if line.endswith("\n"):
                record = json.loads(line)
                body = base64.b64decode(record["body_base64"]) if "body_base64" in record else record["body"].encode()
                events.append((record["headers"], body))
    return events


def assert_all_arrived(events, n_each):
    """As they were sent, each at least once; returns how many came again."""
    arrived = {key_of(headers): (headers, body) for headers, body in events}
    missing = [(kind, number) for kind in KINDS for number in range(n_each) if (kind, number) not in arrived]
    assert not missing, f"{len(missing)} of {2 * n_each} events are missing, the first are {missing[:5]}"
    assert len(arrived) == 2 * n_each
    for headers, body in events:
        assert (headers, body) == expected_event(*key_of(headers))
    return len(events) - len(arrived)
