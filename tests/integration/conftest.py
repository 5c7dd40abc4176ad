"""conftest.py - fixtures of the stories: agents that are stopped, whatever happens, and whose logs show on failure."""
import pytest

import leat as leat_module


@pytest.fixture
def leat(tmp_path):
    """A function that makes an agent from a configuration and starts it; see leat.Leat for the keywords.

    At the end of the story those that still run are stopped, and must stop cleanly.
    """
    agents = []

    def make(config, start=True, **keywords):
        folder = tmp_path / f"agent-{len(agents)}"
        folder.mkdir()
        agent = leat_module.Leat(folder, config, **keywords)
        agents.append(agent)
        return agent.start() if start else agent

    yield make
    try:
        for agent in agents:
            if agent.is_running:
                agent.stop()
    finally:
        for agent in agents:
            if agent.is_running:
                agent.kill()
            print(f"---- log of {agent.folder.name}\n{agent.log_text()}")
