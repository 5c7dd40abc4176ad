"""test_describe.py - what the rows say: as help, as a reference, as a schema, as a manual; and that the copies are new."""
import pathlib
import re
import subprocess

import pytest

from leat import needs, program

TOP = pathlib.Path(__file__).resolve().parents[2]


def describe(*arguments):
    result = subprocess.run([program(), "describe", *arguments], capture_output=True, text=True, timeout=20)
    assert result.returncode == 0 and result.stderr == "", result.stderr
    return result.stdout


def check(path):
    return subprocess.run([program(), "check", str(path)], capture_output=True, text=True, timeout=20)


def topics():
    return re.findall(r"^  (\w+/[\w-]+) ", describe(), re.M)


def test_every_part_is_listed_and_can_be_described():
    assert {"source/thrift", "interceptor/host", "selector/replicating", "channel/memory", "sink/file"} <= set(topics())
    for topic in topics():
        assert describe(topic).startswith(f"{topic}: ")


def test_a_part_tells_values_default_and_help_of_each_option_and_every_metric():
    text = describe("sink/file")

    assert "  compression (choice: none, gzip or zstd; default none)\n" in text
    assert "  directory (path; required)\n" in text
    assert "  batch-size (number: 1 to 1000000; default 1000)\n" in text
    assert "  leat_sink_events_delivered_total (counter; in Flume's JSON: EventDrainSuccessCount)\n" in text


def test_a_kind_tells_what_its_parts_share():
    text = describe("sink")

    assert "  sink/null " in text and "  max-backoff (" in text and "  leat_sink_delivery_seconds (" in text
    assert "  directory (" not in text
    assert describe("sinks") == text


def test_the_agent_is_described_too():
    assert "  shutdown-timeout (duration; default 10s)\n" in describe("agent")


def test_the_reference_has_every_option_and_is_valid(tmp_path):
    text = describe("--all=yaml")
    path = tmp_path / "reference.yaml"
    path.write_text(text)

    assert check(path).returncode == 0, check(path).stderr
    for topic in topics():
        name = topic.split("/")[1]
        assert re.search(rf"^ +(- )?(type|processor): {name}$", text, re.M), topic
        for option in re.findall(r"^  ([\w-]+) \(", describe(topic).split("Options of every")[0], re.M):
            assert option.startswith("leat_") or re.search(rf"^ +#?{option}: ", text, re.M), option


@needs("libsoup")  # as discovery through nsqlookupd is
def test_the_reference_stays_valid_with_every_option_uncommented(tmp_path):
    path = tmp_path / "reference.yaml"
    path.write_text(re.sub(r"^( *)#([a-z])", r"\1\2", describe("--all=yaml"), flags=re.M))

    result = check(path)

    assert result.returncode == 0, result.stderr
    assert "optional: a copy" in result.stdout


@pytest.fixture
def validate():
    """The messages of the schema for a configuration in YAML, as an editor sees it."""
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    schema = yaml.safe_load(describe("--all=json-schema"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    def errors(text):
        return [error.message for error in validator.iter_errors(yaml.safe_load(text))]
    return errors


def test_the_schema_accepts_the_reference_and_every_configuration_that_comes_with_leat(validate):
    text = describe("--all=yaml")

    assert validate(text) == []
    assert validate(re.sub(r"^( *)#([a-z])", r"\1\2", text, flags=re.M)) == []
    for path in (TOP / "conf").glob("*.yaml"):
        if path.name == "registry.yaml":  # of the other program
            continue
        assert validate(path.read_text()) == [], path


@pytest.mark.parametrize("good, bad", [
    ("type: null", "type: nul"),
    ("batch-size: 5", "batch-size: 0"),
    ("batch-size: 5", "batch-sice: 5"),
    ("linger: 5ms", "linger: 5 parsecs"),
    ("linger: 5ms", "linger: 5"),
    ("refuse: yes", "refuse: maybe"),
    ("channel: buffer", "chanel: buffer"),
    ("  out:", "  'o u t':"),
    ("channels: [buffer]", "channels: {}"),
    ("batch-bytes: ${BYTES:-4MiB}", "batch-bytes: 4 apples"),
])
def test_the_schema_refuses_what_leat_refuses(validate, tmp_path, good, bad):
    text = """\
sources:
  numbers: { type: sequence, channels: [buffer] }
channels:
  buffer: { type: memory }
sinks:
  out: { type: null, channel: buffer, batch-size: 5, linger: 5ms, refuse: yes, batch-bytes: "${BYTES:-4MiB}" }
"""
    good, bad = (good.replace("${BYTES:-4MiB}", '"${BYTES:-4MiB}"'), bad)
    assert good in text
    path = tmp_path / "agent.yaml"

    path.write_text(text)
    assert validate(text) == [] and check(path).returncode == 0
    path.write_text(text.replace(good, bad))
    assert validate(text.replace(good, bad)) != [] and check(path).returncode == 1


@pytest.mark.parametrize("form, path", [("yaml", "conf/reference.yaml"), ("json-schema", "docs/leat.schema.json")])
def test_the_committed_copy_is_what_the_program_says(form, path):
    assert (TOP / path).read_text() == describe(f"--all={form}"), "stale: run 'make update-docs'"


def test_the_manual_has_the_options_that_the_program_has():
    page = (TOP / "docs/man/leat.yaml.5").read_text()

    generated = re.search(r'^\.\\" ---- options start .*?\n(.*)^\.\\" ---- options end', page, re.M | re.S)[1]
    assert generated == describe("--all=man"), "stale: run 'make update-docs'"
