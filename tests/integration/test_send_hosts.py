"""test_send_hosts.py - `leat send` to several hosts: failover, load balancing, and where it stopped when none took a line."""
import subprocess

import pytest

from flume_api import FlumePeer, Status
from leat import program, wait_until


@pytest.fixture
def peer():
    peers = []

    def make(answer=lambda batch: Status.OK):
        peers.append(FlumePeer(answer=answer))
        return peers[-1]

    yield make
    for each in peers:
        each.close()


def hosts(*peers):
    return ",".join(f"127.0.0.1:{each.port}" for each in peers)


def command(peers, *arguments):
    return [program(), "send", "--to", hosts(*peers), *map(str, arguments)]


def send(peers, *arguments):
    return subprocess.run(command(peers, *arguments), capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log"
    path.write_text("".join(f"{i}\n" for i in range(1, 101)))
    return path


LINES = [str(i).encode() for i in range(1, 101)]


def test_all_goes_to_the_first_of_several_hosts_while_it_works(peer, log):
    first, second = peer(), peer()

    done = send([first, second], "--batch", 10, log)

    assert done.returncode == 0, done.stderr
    assert first.bodies == LINES and second.bodies == []


def test_load_balance_gives_each_batch_to_the_next_host(peer, log):
    peers = [peer(), peer()]

    done = send(peers, "--client", "load-balance", "--batch", 10, log)

    assert done.returncode == 0, done.stderr
    assert [len(each.batches) for each in peers] == [5, 5]
    assert sorted(peers[0].bodies + peers[1].bodies) == sorted(LINES)


def test_what_one_host_refuses_goes_to_the_other(peer, log):
    first = peer(lambda batch: Status.FAILED if batch[0].body == b"51" else Status.OK)
    second = peer()

    done = send([first, second], "--client", "failover", "--batch", 10, log)

    assert done.returncode == 0, done.stderr
    assert first.bodies == LINES[:60]
    assert second.bodies == LINES[50:]
    assert done.stdout.startswith("sent 100 events ")


def test_a_host_that_dies_on_the_way_is_left_for_the_other(peer):
    first, second = peer(), peer()
    running = subprocess.Popen(command([first, second]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    running.stdin.write(b"one\n")
    running.stdin.flush()
    wait_until(lambda: first.bodies, "the first line has arrived")
    first.close()
    output, error = running.communicate(b"two\n", timeout=60)

    assert (running.returncode, error) == (0, b"")
    assert output.startswith(b"sent 2 events ")
    assert first.bodies == [b"one"]
    assert second.bodies in ([b"two"], [b"one", b"two"])  # again, if the first was closed before it could answer


def test_a_host_that_is_down_from_the_beginning_is_no_matter(peer, log):
    first, second = peer(), peer()
    first.close()

    done = send([first, second], log)

    assert done.returncode == 0, done.stderr
    assert second.bodies == LINES


def test_all_hosts_down_means_nothing_was_sent_and_each_is_named(peer, log):
    peers = [peer(), peer()]
    for each in peers:
        each.close()

    done = send(peers, log)

    assert done.returncode == 1
    assert "cannot connect, nothing was sent: " in done.stderr
    assert all(f"127.0.0.1:{each.port}: Connection refused" in done.stderr for each in peers)


def test_a_line_that_no_host_takes_is_told_with_the_answer_of_each(peer, log):
    def answer(batch):
        return Status.FAILED if batch[0].body == b"31" else Status.OK

    peers = [peer(answer), peer(answer)]

    done = send(peers, "--batch", 10, log)

    assert done.returncode == 1
    assert f"stopped at {log}:31, the first line not acknowledged: " in done.stderr
    assert all(f"127.0.0.1:{each.port}: answered FAILED" in done.stderr for each in peers)
    assert done.stdout.startswith("sent 30 events ")


@pytest.mark.parametrize("arguments, problem", [
    (["--to", "h:1", "--client", "load-balance"], "--client: load-balance needs at least two hosts"),
    (["--to", "h:1,g:1", "--client", "single"], "--client: a single client has one host"),
    (["--to", "h:1,g:1", "--client", "org.apache.flume.api.FailoverRpcClient"], "choices are: single, failover, load-balance"),
    (["--to", "h:1,g"], "--to: 'g' "),
    (["--to", ","], "--to: there are none"),
])
def test_hosts_that_do_not_go_with_the_command_are_one_line_and_exit_2(arguments, problem):
    done = subprocess.run([program(), "send", *arguments], capture_output=True, text=True, timeout=20, check=False)

    assert done.returncode == 2
    assert problem in done.stderr
    assert done.stderr.count("\n") == 1
