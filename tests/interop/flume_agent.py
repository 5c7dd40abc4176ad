"""flume_agent.py - a real agent of Apache Flume for a story: a Thrift source, a channel and a sink."""
import contextlib
import pathlib
import socket
import subprocess

import pytest

from leat import wait_until

START_TIMEOUT = 60.0  # a JVM on a busy machine


def free_port():
    """Flume cannot say which port it got, so it is told one that was free just now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class FlumeAgent:
    """Writes the configuration of an agent, whose options are given without prefix, and runs it."""

    def __init__(self, jars, folder, protocol, channel, sink, java_options=()):
        self.jars = jars
        self.java_options = java_options
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.port = free_port()
        self.process = None
        # Without `threads` the source makes a new thread for each request, and ends none.
        source = {"type": "thrift", "bind": "127.0.0.1", "port": self.port, "protocol": protocol, "threads": 4, "channels": "c"}
        lines = ["a.sources = r", "a.channels = c", "a.sinks = k"]
        for part, options in (("sources.r", source), ("channels.c", channel), ("sinks.k", {**sink, "channel": "c"})):
            lines += [f"a.{part}.{key} = {value}" for key, value in options.items()]
        self.config = self.folder / "flume.properties"
        self.config.write_text("\n".join(lines) + "\n")
        self.log = self.folder / "flume.log"

    def start(self):
        """Returns once the source accepts connections; Flume starts it last."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                ["java", "-Xmx256m", "-Dorg.slf4j.simpleLogger.showDateTime=true", *self.java_options, "-cp", self.jars,
                 "org.apache.flume.node.Application", "--name", "a", "--conf-file", self.config, "--no-reload-conf"],
                stdout=log, stderr=log, cwd=self.folder)
        wait_until(self._is_listening, "Flume listens", START_TIMEOUT)
        return self

    def _is_listening(self):
        assert self.process.poll() is None, f"Flume ended:\n{self.log.read_text(errors='replace')}"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
            return True
        return False

    def kill(self):
        """SIGKILL."""
        self.process.kill()
        self.process.wait()


@pytest.fixture
def flume(flume_jars, tmp_path):
    """A function that starts a Flume agent; see FlumeAgent. At the end of the story it is killed, and its log shows."""
    agents = []

    def make(protocol, channel, sink):
        agent = FlumeAgent(flume_jars, tmp_path / f"flume-{len(agents)}", protocol, channel, sink)
        agents.append(agent)
        return agent.start()

    yield make
    for agent in agents:
        if agent.process is not None:
            agent.kill()
        if agent.log.exists():
            print(f"---- end of the log of {agent.folder.name}")
            print("\n".join(agent.log.read_text(errors="replace").splitlines()[-60:]))
