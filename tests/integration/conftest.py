"""conftest.py - fixtures of the stories: agents that are stopped, whatever happens, and whose logs show on failure."""
import json

import pytest

import leat as leat_module
import registry as registry_module
import side_by_side
from client_library import installed  # noqa: F401
from far_end import FarEnd
from leat import free_port
from tap import TapReporter


def pytest_addoption(parser):
    parser.addoption("--tap", action="store_true", help="a line for each story, for Automake")
    parser.addoption("--jobs", type=int, default=1, help="run stories in so many processes at once")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "alone: what it measures would be disturbed by stories beside it")
    config.pluginmanager.register(side_by_side)
    if config.getoption("tap"):
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(TapReporter())


def stop_all(agents):
    """Those that still run are stopped, and must stop cleanly."""
    try:
        for agent in agents:
            if agent.is_running:
                agent.stop()
    finally:
        for agent in agents:
            if agent.is_running:
                agent.kill()
            print(f"---- log of {agent.folder.name}\n{agent.log_text()}")


@pytest.fixture
def leat(tmp_path):
    """A function that makes an agent from a configuration and starts it; see leat.Leat for the keywords."""
    agents = []

    def make(config, start=True, **keywords):
        folder = tmp_path / f"agent-{len(agents)}"
        folder.mkdir()
        agent = leat_module.Leat(folder, config, **keywords)
        agents.append(agent)
        return agent.start() if start else agent

    yield make
    stop_all(agents)


@pytest.fixture
def registry(tmp_path):
    """A function that starts a leat-registry, with the options of its section nsqlookupd; see registry.Registry."""
    registries = []

    def make(start=True, http="off", keywords=None, **options):
        folder = tmp_path / f"registry-{len(registries)}"
        folder.mkdir()
        section = {"tcp-address": f"127.0.0.1:{free_port()}", "http-address": f"127.0.0.1:{free_port()}",
                   **{name.replace("_", "-"): value for name, value in options.items()}}
        made = registry_module.Registry(folder, {"http": http, "nsqlookupd": section, "namesrv": "off"}, **(keywords or {}))
        registries.append(made)
        return made.start() if start else made

    yield make
    stop_all(registries)


@pytest.fixture
def namesrv(tmp_path):
    """A function that starts a leat-registry, with the options of its section namesrv; see registry.Registry."""
    registries = []

    def make(start=True, **options):
        folder = tmp_path / f"namesrv-{len(registries)}"
        folder.mkdir()
        section = {"listen": f"127.0.0.1:{free_port()}", "kv-config-path": str(folder / "kvConfig.json"),
                   **{name.replace("_", "-"): value for name, value in options.items()}}
        made = registry_module.Registry(folder, {"http": "127.0.0.1:0", "nsqlookupd": "off", "namesrv": section})
        registries.append(made)
        return made.start() if start else made

    yield make
    stop_all(registries)


@pytest.fixture
def fake():
    """A function that starts a fake registry of a kind in fake_registry.py."""
    registries = []

    def make(kind, **keywords):
        registries.append(kind(**keywords))
        return registries[-1]

    yield make
    for made in registries:
        made.close()


def collector_config(folder):
    return {
        "agent": {"http": "off"},
        "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory"}},
        "sinks": {"files": {"type": "file", "channel": "buffer", "directory": str(folder), "format": "json"}},
    }


def read_records(folder):
    lines = (line for path in sorted(folder.iterdir()) for line in path.read_text(encoding="utf-8").splitlines(True))
    return [json.loads(line) for line in lines if line.endswith("\n")]


@pytest.fixture
def collector(leat, tmp_path):
    """A function that starts an agent which writes what it gets: its records() are the events written so far."""
    folders = []

    def make():
        folder = tmp_path / f"events-{len(folders)}"
        folder.mkdir()
        folders.append(folder)
        agent = leat(collector_config(folder))
        agent.records = lambda: read_records(folder)
        return agent

    return make


@pytest.fixture
def far_end(tmp_path):
    """A function that starts a FarEnd of a name."""
    ends = []

    def make(name="far", **keywords):
        ends.append(FarEnd(tmp_path / name, **keywords))
        return ends[-1]

    yield make
    for end in ends:
        end.close()
