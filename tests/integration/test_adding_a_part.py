"""test_adding_a_part.py - the sink that docs/adding-a-part.md shows was built (tests/adding) and works as it stands."""
import os
import pathlib
import subprocess

import pytest

import leat as leat_module

PROGRAM = pathlib.Path(leat_module.program()).parent / "tests" / "adding" / "leat-with-console"
CONFIG = """
agent: { http: "off" }
sources: { numbers: { type: sequence, count: 3, channels: [buffer] } }
channels: { buffer: { type: memory } }
sinks: { out: { type: console, channel: buffer, prefix: "> " } }
"""


@pytest.fixture
def console(tmp_path):
    if not PROGRAM.exists():
        pytest.skip(f"SKIPPED: {PROGRAM.name} is built by `make check`")
    path = tmp_path / "console.yaml"
    path.write_text(CONFIG)
    return path


def test_events_come_out_of_a_sink_that_was_one_file_and_one_line(console):
    with subprocess.Popen([PROGRAM, "run", console], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env=dict(os.environ, G_DEBUG="fatal-criticals")) as agent:
        lines = [agent.stdout.readline() for _ in range(3)]
        agent.terminate()

        assert agent.wait(leat_module.TIMEOUT) == 0

    assert lines == ["> 0\n", "> 1\n", "> 2\n"]


def test_its_option_is_described_and_checked_without_another_line(console):
    described = subprocess.run([PROGRAM, "describe", "sink/console"], capture_output=True, text=True, check=True)
    console.write_text(CONFIG.replace("prefix", "prefx"))
    checked = subprocess.run([PROGRAM, "check", console], capture_output=True, text=True, check=False)

    assert "Stands in front of every line." in described.stdout
    assert checked.returncode == 1
    assert "did you mean 'prefix'" in checked.stderr + checked.stdout
