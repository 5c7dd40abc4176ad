"""test_examples.py - the examples for applications that need nothing but what leat itself needs to be tested.

That of the client library is in test_client_library.py; those in C++ and Java are in tests/interop.
"""
import pathlib
import shutil
import subprocess
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]


def test_the_python_example_sends_its_batch(collector, tmp_path):
    if shutil.which("thrift") is None:
        pytest.skip("there is no Thrift compiler here")
    agent = collector()
    subprocess.run(["thrift", "--gen", "py", TREE / "thrift/flume.thrift"], cwd=tmp_path, check=True)

    sent = subprocess.run([sys.executable, TREE / "docs/examples/send.py", str(agent.port("apps"))], cwd=tmp_path,
                          capture_output=True, text=True, timeout=60, check=False)
    agent.stop()

    assert (sent.returncode, sent.stdout) == (0, "answer: OK\n"), sent.stderr
    assert [(e["headers"], e["body"]) for e in agent.records()] == [
        ({"app": "demo"}, "hello"), ({"app": "demo"}, "from Python")]
