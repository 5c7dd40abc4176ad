"""test_examples.py - the examples for applications in C++ and Java send to leat, each built as its first lines say."""
import pathlib
import shutil
import subprocess

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = TREE / "docs" / "examples"


def run(folder, *command):
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def generate(folder, language):
    if shutil.which("thrift") is None:
        pytest.skip(f"the example in {language} did not run: there is no Thrift compiler here")
    run(folder, "thrift", "--gen", language, TREE / "thrift/flume.thrift")
    return folder / f"gen-{language}"


def assert_arrived(agent, output, language):
    agent.stop()
    assert output == "answer: OK\n"
    assert [(e["headers"], e["body"]) for e in agent.records()] == [
        ({"app": "demo"}, "hello"), ({"app": "demo"}, f"from {language}")]


def test_the_cpp_example_sends_its_batch(collector, tmp_path):
    program, headers = tmp_path / "send", tmp_path / "headers.cpp"
    headers.write_text("#include <thrift/transport/TSocket.h>\n")
    if shutil.which("c++") is None or subprocess.run(["c++", "-fsyntax-only", headers], check=False, capture_output=True).returncode != 0:
        pytest.skip("the example in C++ did not run: it needs g++, libthrift-dev and libboost-dev")
    generated = generate(tmp_path, "cpp")
    run(tmp_path, "c++", "-Wall", "-Werror", f"-I{generated}", "-o", program, EXAMPLES / "send.cpp",
        generated / "flume_types.cpp", generated / "ThriftSourceProtocol.cpp", "-lthrift")
    agent = collector()

    assert_arrived(agent, run(tmp_path, program, agent.port("apps")), "C++")


def test_the_java_example_with_the_client_of_flume_sends_its_batch(collector, flume_jars, tmp_path):
    agent = collector()

    assert_arrived(agent, run(tmp_path, "java", "-cp", flume_jars, EXAMPLES / "SendFlume.java", agent.port("apps")), "Java")


def test_the_java_example_with_generated_code_sends_its_batch(collector, flume_jars, tmp_path):
    generated = generate(tmp_path, "java") / "org/apache/flume/thrift"
    run(tmp_path, "javac", "-cp", flume_jars, "-d", tmp_path / "classes", *generated.glob("*.java"), EXAMPLES / "SendThrift.java")
    agent = collector()

    assert_arrived(agent, run(tmp_path, "java", "-cp", f"{tmp_path}/classes:{flume_jars}", "SendThrift", agent.port("apps")), "Java")
