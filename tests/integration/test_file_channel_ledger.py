"""test_file_channel_ledger.py - a ledger of what was acknowledged, kept by producers, against what has arrived, while agents
are killed and frozen and disks are full: all of it is there, nothing else is, and what came twice is counted.

LEDGER_ROUNDS=100 runs as many rounds of kills, of stops and starts (default 12).
"""
import collections
import contextlib
import itertools
import os
import random
import signal
import subprocess
import threading
import time

import pytest

from far_end import FarEnd
from flume_api import Status, ThriftFlumeEvent, flume_client
from leat import TIMEOUT, Leat, free_port, is_built_with, wait_until

ROUNDS = int(os.environ.get("LEDGER_ROUNDS", "12"))
QUICK = {"backoff": "10ms", "max-backoff": "100ms", "request-timeout": "2s", "connect-timeout": "1s", "batch-size": 200}


class Producer(threading.Thread):
    """Sends events with ids of its own until told to stop. Each batch is sent again until it is acknowledged."""

    def __init__(self, name, port):
        super().__init__(daemon=True)
        self.label, self.port = name, port
        self.sent, self.acknowledged = set(), set()
        self.refused = 0
        self.stopping = threading.Event()

    def run(self):
        numbers = itertools.count()
        batch = []
        while not self.stopping.is_set():
            with contextlib.suppress(Exception), flume_client(self.port) as client:
                while not self.stopping.is_set():
                    batch = batch or [f"{self.label}-{next(numbers)}" for _ in range(random.randint(1, 30))]
                    self.sent.update(batch)
                    events = [ThriftFlumeEvent({}, name.encode()) for name in batch]
                    if client.appendBatch(events) == Status.OK:
                        self.acknowledged.update(batch)
                        batch = []
                    else:
                        self.refused += 1
                        self.stopping.wait(0.01)
            self.stopping.wait(0.005)

    def finish(self):
        self.stopping.set()
        self.join(TIMEOUT)


class Story:
    """An agent whose folder outlives it, two producers, and a far end: a process of ours, or the agent of another story."""

    def __init__(self, folder, far=None, **channel):
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.far = far or FarEnd(folder / "arrived")
        self.config = {
            "agent": {"http": "127.0.0.1:0" if is_built_with("libsoup") else "off"},
            "sources": {"apps": {"type": "thrift", "listen": self.address, "channels": ["spool"]}},
            "channels": {"spool": {"type": "file", "directory": "spool", "segment-size": "256KiB", "reserve": "0B",
                                   "put-timeout": "1s", **channel}},
            "sinks": {"out": {"type": "thrift", "channel": "spool", "hosts": [self.far.address], **QUICK}},
        }
        self.producers = [Producer(name, self.port) for name in "ab"]
        self.agent = None

    def start(self):
        self.agent = Leat(self.folder, self.config, log_level="info").start()

    def acknowledged(self):
        return set().union(*(producer.acknowledged for producer in self.producers))

    def assert_ledger(self, far=None):
        far = far or self.far
        for producer in self.producers:
            producer.finish()
        acknowledged = self.acknowledged()
        wait_until(lambda: acknowledged <= set(far.bodies), "everything acknowledged has arrived")
        arrived = collections.Counter(far.bodies)
        assert set(arrived) <= set().union(*(producer.sent for producer in self.producers))
        print(f"{len(acknowledged)} acknowledged, {len(arrived)} arrived, {sum(arrived.values()) - len(arrived)} twice")

    def close(self):
        for producer in self.producers:
            producer.stopping.set()
        if self.agent is not None and self.agent.is_running:
            self.agent.kill()
        self.far.close()
        if self.agent is not None:
            print(self.agent.log_text())


@pytest.fixture
def story(tmp_path):
    stories = []

    def make(name="story", far=None, **channel):
        stories.append(Story(tmp_path / name, far, **channel))
        return stories[-1]

    yield make
    for each in stories:
        each.close()


def freeze(process):
    process.signal(signal.SIGSTOP)
    time.sleep(random.uniform(0, 0.1))
    process.signal(signal.SIGCONT)


def test_an_agent_that_is_killed_again_and_again_loses_nothing(story):
    told = story()
    told.start()
    for producer in told.producers:
        producer.start()

    for number in range(ROUNDS):
        time.sleep(random.uniform(0.01, 0.15))  # any moment will do
        if number % 4 == 1:
            freeze(told.agent)
        if number % 4 == 2:
            told.far.kill()
        told.agent.kill()
        told.start()
        if number % 4 == 2:
            told.far.start()

    n_before = len(told.acknowledged())
    wait_until(lambda: len(told.acknowledged()) > n_before, "events are taken to the end")
    told.assert_ledger()
    told.agent.stop()
    assert not told.agent.log("files are damaged")


def test_a_clean_stop_delivers_nothing_twice(story):
    told = story()
    told.config["sinks"]["out"]["request-timeout"] = "1m"  # what is given up on a busy machine is sent again
    told.start()
    for producer in told.producers:
        producer.start()

    for _ in range(3):
        n_before = len(told.acknowledged())
        wait_until(lambda: len(told.acknowledged()) > n_before + 100, "events are taken")
        told.agent.stop()
        told.start()

    told.assert_ledger()
    told.agent.stop()
    arrived = collections.Counter(told.far.bodies)
    once = [name for name in told.acknowledged() if arrived[name] == 1]
    # What a producer sends again, because its connection ended before the answer, is no fault of the channel.
    assert len(once) >= len(told.acknowledged()) - 3 * 2 * 30


def test_two_agents_that_are_stopped_and_started_again_and_again_hang_never_and_lose_nothing(story):
    second = story("second")
    first = story("first", second)
    for told in (first, second):
        told.start()
    for producer in first.producers:
        producer.start()

    for _ in range(ROUNDS):
        told = random.choice([first, second])
        time.sleep(random.uniform(0, 0.05))
        told.agent.stop()
        told.start()

    first.assert_ledger(second.far)
    for told in (first, second):
        told.agent.stop()
        assert not told.agent.log("files are damaged")


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)],
                             stderr=subprocess.PIPE, check=False)
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("reserve", ["0B", "3MiB"])
def test_a_full_disk_refuses_and_takes_events_again_once_there_is_room(story, small_disk, reserve):
    told = story(directory=str(small_disk / "spool"), reserve=reserve, **{"segment-size": "1MiB"})
    told.far.kill()
    told.start()
    for producer in told.producers:
        producer.start()
    bulk = Bulk(told.port)
    bulk.start()
    told.producers.append(bulk)

    told.agent.wait_for_log("trouble with the disk")
    wait_until(lambda: all(producer.refused for producer in told.producers), "everybody is refused")
    if is_built_with("libsoup"):
        wait_until(lambda: "disk" in told.agent.request("/healthz").text, "it says that it is not well")
        assert told.agent.request("/healthz").status == 503

    told.far.start()
    n_before = {producer: len(producer.acknowledged) for producer in told.producers}
    wait_until(lambda: all(len(producer.acknowledged) > n for producer, n in n_before.items()), "everybody is heard again")
    told.agent.wait_for_log("recovered", detail="the disk takes events again")
    told.assert_ledger()
    if is_built_with("libsoup"):
        wait_until(lambda: told.agent.request("/healthz").status == 200, "it is healthy")
    told.agent.stop()


class Bulk(Producer):
    """Large events, to fill a disk."""

    def __init__(self, port):
        super().__init__("bulk", port)

    def run(self):
        padding = "x" * 20000
        for number in itertools.count():
            name = f"bulk-{number}-{padding}"
            while not self.stopping.is_set():
                self.sent.add(name)
                with contextlib.suppress(Exception), flume_client(self.port) as client:
                    if client.appendBatch([ThriftFlumeEvent({}, name.encode())]) == Status.OK:
                        self.acknowledged.add(name)
                        break
                self.refused += 1
                self.stopping.wait(0.01)
            if self.stopping.is_set():
                return
