"""test_send.py - `leat send` to a peer of another Thrift implementation."""
import re
import signal
import subprocess
import threading
import time

import pytest

from flume_api import FlumePeer, Status
from leat import TIMEOUT, draw, held_until_it_begins, program, signalled_before_it_begins, wait_until


@pytest.fixture
def peer():
    peers = []

    def make(*arguments, **keywords):
        peers.append(FlumePeer(*arguments, **keywords))
        return peers[-1]

    yield make
    for each in peers:
        each.close()


def command(port, *arguments):
    return [program(), "send", "--to", f"127.0.0.1:{port}", *map(str, arguments)]


def send(port, *arguments, stdin=b""):
    return subprocess.run(command(port, *arguments), input=stdin, capture_output=True, timeout=60, check=False)


def start(port, *arguments):
    return subprocess.Popen(command(port, *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def error_of(done):
    return done.stderr.decode()


@pytest.mark.parametrize("protocol", ["compact", "binary"])
def test_each_line_is_an_event_whatever_its_bytes(peer, protocol):
    there = peer(protocol)

    done = send(there.port, "--protocol", protocol, "--header", "app=shop", "--header", "empty=",
                stdin=b"one\r\n\n\xff\x00two\nlast")

    assert done.returncode == 0, error_of(done)
    assert there.bodies == [b"one\r", b"", b"\xff\x00two", b"last"]
    assert all(event.headers == {"app": "shop", "empty": ""} for event in there.batches[0])
    assert re.fullmatch(rb"sent 4 events \(16 B\) in \d+\.\d\d s, \d+ events/s, 1 batch\n", done.stdout)


def test_lines_go_in_batches_in_order(peer, tmp_path):
    there = peer()
    (tmp_path / "log").write_text("".join(f"{i}\n" for i in range(2500)))

    done = send(there.port, tmp_path / "log")

    assert done.returncode == 0, error_of(done)
    assert [len(batch) for batch in there.batches] == [1000, 1000, 500]
    assert there.bodies == [str(i).encode() for i in range(2500)]


def test_a_batch_is_cut_by_bytes_too(peer, tmp_path):
    there = peer()
    (tmp_path / "log").write_bytes((b"x" * 1000000 + b"\n") * 20)

    done = send(there.port, tmp_path / "log")

    assert done.returncode == 0, error_of(done)
    assert len(there.bodies) == 20
    assert max(len(batch) for batch in there.batches) < 5


def test_a_trickle_is_sent_while_the_pipe_stays_open(peer):
    there = peer()
    running = start(there.port)

    for line in (b"one", b"two"):
        running.stdin.write(line + b"\n")
        running.stdin.flush()
        wait_until(lambda: line in there.bodies, f"{line} has arrived")

    running.stdin.close()
    assert running.wait(TIMEOUT) == 0


def test_a_refusal_is_told_with_the_first_line_it_stopped_at(peer, tmp_path):
    there = peer(answer=lambda batch: Status.FAILED if batch[0].body == b"b10" else Status.OK)
    (tmp_path / "a").write_text("".join(f"a{i}\n" for i in range(1, 6)))
    (tmp_path / "b").write_text("".join(f"b{i}\n" for i in range(1, 50)))

    done = send(there.port, "--batch", 7, tmp_path / "a", tmp_path / "b")

    assert done.returncode == 1
    assert f"stopped at {tmp_path}/b:10, the first line not acknowledged" in error_of(done)
    assert "answered FAILED" in error_of(done)
    assert done.stdout.startswith(b"sent 14 events ")


def test_an_exception_is_told_in_the_words_of_the_peer(peer):
    def answer(_):
        raise RuntimeError("no such thing")

    done = send(peer(answer=answer).port, stdin=b"one\n")

    assert done.returncode == 1
    assert "stopped at stdin:1, " in error_of(done)
    assert "answered with an error (6)" in error_of(done)


def test_a_silent_peer_is_given_up_after_the_timeout(peer):
    answered = threading.Event()
    there = peer(answer=lambda batch: answered.wait() and Status.OK)

    done = send(there.port, "--timeout", "1s", stdin=b"one\n")
    answered.set()

    assert done.returncode == 1
    assert "stopped at stdin:1, " in error_of(done)
    assert "may have been stored all the same" in error_of(done)


def test_nobody_there_means_nothing_was_sent(peer):
    there = peer()
    there.close()

    done = send(there.port, stdin=b"one\n")

    assert done.returncode == 1
    assert f"cannot connect, nothing was sent: 127.0.0.1:{there.port}: Connection refused" in error_of(done)


def test_a_missing_file_stops_before_anything_is_sent(peer, tmp_path):
    there = peer()
    (tmp_path / "here").write_text("one\n")

    done = send(there.port, tmp_path / "here", tmp_path / "missing")

    assert done.returncode == 1
    assert f"cannot read {tmp_path}/missing: No such file" in error_of(done)
    assert not there.batches


def test_a_line_larger_than_a_frame_is_refused_with_its_number(peer, tmp_path):
    there = peer()
    (tmp_path / "log").write_bytes(b"small\n" + b"x" * 16384000 + b"\nmore\n")

    done = send(there.port, tmp_path / "log")

    assert done.returncode == 1
    assert f"stopped at {tmp_path}/log:2, the first line not acknowledged: the line is longer" in error_of(done)
    assert there.bodies == [b"small"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_after_the_batch_in_flight(peer, number):
    arrived, go_on = threading.Event(), threading.Event()
    there = peer(answer=lambda batch: (arrived.set(), go_on.wait(), Status.OK)[2])
    running = start(there.port, "--batch", 2)
    running.stdin.write(b"1\n2\n3\n")
    running.stdin.flush()
    assert arrived.wait(TIMEOUT)

    running.send_signal(number)
    go_on.set()
    output, error = running.communicate(timeout=TIMEOUT)

    assert running.returncode == 1
    assert output.startswith(b"sent 2 events ")
    assert b"stopped at stdin:3, the first line not acknowledged: interrupted" in error
    assert there.bodies == [b"1", b"2"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_anything_was_sent_is_no_success_and_says_so(peer, number):
    there = peer()

    with held_until_it_begins(number):
        done = subprocess.run(signalled_before_it_begins(number) + command(there.port), input=b"1\n", capture_output=True,
                              timeout=60, check=False)

    assert (done.returncode, error_of(done)) == (1, "leat send: interrupted, nothing was sent\n")
    assert not there.bodies


def test_a_rate_spreads_batches_over_time(peer):
    there = peer()
    begin = time.monotonic()

    done = send(there.port, "--rate", "200/s", stdin=b"line\n" * 100)

    assert done.returncode == 0, error_of(done)
    assert time.monotonic() - begin > 0.35
    assert max(len(batch) for batch in there.batches) == 20


def test_progress_shows_on_a_terminal_only(peer, tmp_path):
    there = peer()
    (tmp_path / "log").write_text("line\n" * 10)

    done, drawn = draw(command(there.port, tmp_path / "log"))
    quiet, nothing = draw(command(there.port, "-q", tmp_path / "log"))

    assert done.returncode == quiet.returncode == 0
    assert "[####################] 100%  10 events  50 B" in drawn
    assert send(there.port, tmp_path / "log").stderr == b""
    assert (quiet.stdout, nothing) == (b"", "")


def agent_config(folder, **channel):
    return {
        "agent": {"http": "off"},
        "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory", **channel}},
        "sinks": {"files": {"type": "file", "channel": "buffer", "directory": str(folder), "format": "text"}},
    }


@pytest.mark.parametrize("protocol", ["compact", "binary"])
def test_what_goes_into_an_agent_comes_out_in_order(leat, tmp_path, protocol):
    (tmp_path / "log").write_text("".join(f"line {i}\n" for i in range(25000)))
    (tmp_path / "out").mkdir()
    agent = leat(agent_config(tmp_path / "out"))

    done = send(agent.port("apps"), "--protocol", protocol, tmp_path / "log")
    agent.stop()

    assert done.returncode == 0, error_of(done)
    assert b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir()) == (tmp_path / "log").read_bytes()


def test_a_batch_that_no_channel_can_hold_is_told_with_its_line(leat, tmp_path):
    (tmp_path / "log").write_text("line\n" * 100)
    (tmp_path / "out").mkdir()
    agent = leat(agent_config(tmp_path / "out", capacity=10))

    done = send(agent.port("apps"), "--batch", "20", tmp_path / "log")

    assert done.returncode == 1
    assert f"stopped at {tmp_path}/log:1, the first line not acknowledged" in error_of(done)
    assert "answered FAILED: a channel is full or refuses events" in error_of(done)


@pytest.mark.parametrize("arguments, problem", [
    ([], "--to HOST:PORT is missing"),
    (["--to", "host"], "--to: "),
    (["--to", ":4141"], "has no host to connect to"),
    (["--to", "h:1", "--header", "novalue"], "is not KEY=VALUE"),
    (["--to", "h:1", "--header", "k=1", "--header", "k=2"], "'k' is given twice"),
    (["--to", "h:1", "--batch", "0"], "--batch: '0' is out of range; write a number from 1 to "),
    (["--to", "h:1", "--rate", "fast"], "--rate: 'fast' is not a whole number; write N/s with N from 1 to "),
    (["--to", "h:1", "--rate", "0/s"], "--rate: '0/s' is out of range; write N/s "),
    (["--to", "h:1", "--protocol", "json"], "choices are: compact, binary"),
    (["--to", "h:1", "--timeout", "0"], "--timeout: "),
    (["--to", "h:1", "--retries", "3"], "--retries"),
])
def test_a_wrong_command_is_one_line_and_exit_2(arguments, problem):
    done = subprocess.run([program(), "send", *arguments], capture_output=True, text=True, timeout=20, check=False)

    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
