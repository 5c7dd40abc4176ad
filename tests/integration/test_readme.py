"""test_readme.py - what the README tells of tiers, with its own commands and the configurations that it names.

They run in a folder that looks like the tree. What differs is what many runs on one machine may not share: ports, folders
below /tmp and how long it takes.
"""
import os
import pathlib
import re
import signal
import subprocess

import pytest

import registry
from leat import TIMEOUT, free_port, needs, program, wait_until

PORTS = ("41414", "41451", "41452", "4141", "4151", "4152", "4160", "4161", "4171", "9876")
TREE = pathlib.Path(__file__).resolve().parents[2]


def blocks(section):
    """The lines of each code block below a heading."""
    text = re.search(rf"^## {section}\n(.*?)^## ", (TREE / "README.md").read_text(encoding="utf-8"), re.M | re.S)[1]
    return [block.strip().splitlines() for block in re.findall(r"^```\n(.*?)^```$", text, re.M | re.S)]


class Place:
    """A folder with conf/ and build/leat, and commands in it."""

    def __init__(self, folder):
        self.folder = folder
        self.instead = {"/tmp/leat-": f"{folder}/leat-", "2000/s": "10000/s", "500/s": "10000/s"}
        self.instead.update(zip(PORTS, (str(free_port()) for _ in PORTS)))
        (folder / "build").mkdir()
        (folder / "build/leat").symlink_to(program())
        (folder / "build/leat-registry").symlink_to(registry.program())
        (folder / "conf").mkdir()
        for path in (TREE / "conf").glob("*.yaml"):
            (folder / "conf" / path.name).write_text(self.adapt(path.read_text(encoding="utf-8")), encoding="utf-8")
        self.processes = []

    def adapt(self, text):
        return re.sub("|".join(map(re.escape, self.instead)), lambda match: self.instead[match[0]], text)

    def start(self, command):
        """The process of a command that goes on, with the path of what it logs."""
        log = self.folder / f"log-{len(self.processes)}"
        with log.open("w") as stderr:
            process = subprocess.Popen(["sh", "-c", re.sub(r"(?=build/leat)", "exec ", self.adapt(command), count=1)],
                                       cwd=self.folder, stderr=stderr, env=clean_environment())
        process.log = log
        self.processes.append(process)
        return process

    def start_agent(self, command):
        process = self.start(command)
        wait_for_line(process, "started agent=")
        return process

    def run(self, command):
        done = subprocess.run(["sh", "-c", self.adapt(command)], cwd=self.folder, capture_output=True, text=True,
                              timeout=TIMEOUT, check=False, env=clean_environment())
        assert done.returncode == 0, done.stderr
        return done.stdout

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()
            print(f"---- {process.args[-1]}\n{process.log.read_text()}")


def clean_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("LEAT_")}


def wait_for_line(process, text):
    wait_until(lambda: text in process.log.read_text(), f"'{text}' is in {process.log.name}")


def is_sending(place, command, senders):
    """Sends the same again on a machine so busy that everything was sent too soon. Always False."""
    if senders[-1].poll() is not None:
        senders.append(place.start(command))
    return False


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.close()


@needs("libsoup")
def test_two_collectors_and_an_edge_one_stops_and_is_back_and_no_number_is_missing(place):
    starts, (send, failures, count) = blocks("Tiers")
    agents = [place.start_agent(command) for command in starts]
    first, edge = agents[0], agents[-1]

    senders = [place.start(send)]
    wait_until(lambda: place.run(count.replace("/tmp/leat-collector-2/*", "")) > "0\n", "the first collector has a share")
    first.send_signal(signal.SIGTERM)
    assert first.wait(TIMEOUT) == 0
    wait_for_line(edge, "trouble at the destination")
    place.start_agent(starts[0])
    wait_until(lambda: "recovered" in edge.log.read_text() or is_sending(place, send, senders), "it has a share again")

    assert [sender.wait(TIMEOUT) for sender in senders] == [0] * len(senders)
    wait_until(lambda: place.run(count) == "20000\n", "all numbers are in the files")
    assert re.search(rf'peer="{place.adapt("127.0.0.1:4151")}"}} [1-9]', place.run(failures))


@needs("libsoup")
def test_collectors_that_come_and_go_are_followed_and_no_number_is_missing(place):
    (registry_start, *starts), (send, another, look, drain, count) = blocks("Agents that find each other")
    wait_for_line(place.start(registry_start), "started")
    first, second, edge = [place.start_agent(command) for command in starts]
    wait_until(lambda: edge.log.read_text().count("host joined") == 2, "the edge knows both")
    of_third = count.replace("collector*", "collector-3")

    senders = [place.start(send)]
    wait_until(lambda: place.run(count) > "0\n", "numbers arrive")
    place.start_agent(another)
    wait_until(lambda: place.run(of_third) > "0\n" or is_sending(place, send, senders), "the third has a share")
    drained = node_of(place.run(look), first)
    place.run(drain.replace("HOST:HTTP-PORT", drained))
    wait_until(lambda: edge.log.read_text().count("host left") == 1, "the edge has left the one that is drained")
    first.send_signal(signal.SIGTERM)
    assert first.wait(TIMEOUT) == 0
    second.kill()
    second.wait()
    wait_until(lambda: edge.log.read_text().count("host left") == 2, "the edge has left the one that was killed")
    place.start_agent(starts[1])

    assert [sender.wait(TIMEOUT) for sender in senders] == [0] * len(senders)
    wait_until(lambda: place.run(count) == "20000\n", "all numbers are in the files")


def node_of(table, process):
    """HOST:HTTP-PORT, as `leat lookup` shows it, of an agent."""
    port = re.search(r"component=http address=\S*:(\d+)", process.log.read_text())[1]
    address = next(line.split()[0] for line in table.splitlines() if line.split()[1] == port)
    return f"{address.rsplit(':', 1)[0]}:{port}"
