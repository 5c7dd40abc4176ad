"""test_commands.py - the command line: help, versions, mistakes, and output that cannot be written; and that of bootstrap."""
import os
import pathlib
import re
import subprocess

import pytest

from leat import program

TREE = pathlib.Path(__file__).resolve().parents[2]
COMMANDS = ["run", "check", "describe", "send", "channel", "lookup", "route"]


def leat(*arguments, stdin="", env=None, stdout=subprocess.PIPE):
    return subprocess.run([program(), *arguments], input=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True,
                          timeout=20, env=dict(os.environ, G_DEBUG="fatal-criticals", **(env or {})))


def assert_usage_error(result, *words):
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("leat")
    for word in words:
        assert word in result.stderr


def test_version_names_leat_and_every_library():
    result = leat("--version")

    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["leat", "GLib", "libyaml", "PCRE2", "Thrift", "libsoup", "zlib", "zstd"]
    assert all(re.search(r" \d+\.\d+|left out", line) for line in lines)


def test_help_lists_every_command():
    for arguments in (["--help"], ["-h"], ["help"], ["help", "help"]):
        result = leat(*arguments)

        assert result.returncode == 0 and result.stderr == ""
        for command in COMMANDS:
            assert re.search(rf"^  {command} +\w", result.stdout, re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    result = leat(command, "--help")

    assert result.returncode == 0 and result.stderr == ""
    assert re.search(rf"^Examples?:\n(  .*\n)*  .*leat {command} ", result.stdout, re.M)
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert leat("help", command).stdout == result.stdout


@pytest.mark.parametrize("command", ["inspect", "verify", "cat"])
def test_every_channel_command_has_help_with_an_example(command):
    result = leat("channel", command, "--help")

    assert result.returncode == 0 and result.stderr == ""
    assert re.search(rf"^Example:\n  leat channel {command} ", result.stdout, re.M)
    assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.parametrize("arguments, words", [
    ([], ["a command is missing", "leat --help"]),
    (["chek"], ["unknown command 'chek'", "did you mean 'check'?"]),
    (["frobnicate"], ["unknown command 'frobnicate'", "run, check, describe, send"]),
    (["--versoin"], ["unknown option '--versoin'", "did you mean '--version'?"]),
    (["help", "rnu"], ["unknown command 'rnu'", "did you mean 'run'?"]),
    (["run"], ["leat run: FILE is missing"]),
    (["run", "a", "b"], ["leat run", "'b'"]),
    (["run", "--log-levle=debug", "a"], ["unknown option '--log-levle'", "did you mean '--log-level'?"]),
    (["run", "--log-level=loud", "a"], ["leat run", "loud"]),
    (["check"], ["leat check: FILE is missing"]),
    (["check", "a", "b"], ["leat check", "'b'"]),
    (["check", "--dto", "a"], ["unknown option '--dto'", "did you mean '--dot'?"]),
    (["check", "-x", "a"], ["unknown option '-x'", "leat check --help"]),
    (["check", "--dot=yes", "a"], ["leat check: --dot takes no value"]),
    (["describe", "a", "b"], ["leat describe", "'b'"]),
    (["describe", "--all"], ["leat describe", "--all"]),
    (["describe", "--all=yml"], ["--all=yml", "did you mean 'yaml'?"]),
    (["describe", "--all=yaml", "sink"], ["leat describe", "'sink'"]),
    (["describe", "sinc"], ["there is no kind 'sinc'", "did you mean 'sink'?"]),
    (["describe", ""], ["there is no kind ''", "source, interceptor, selector, channel, sink, sink-group, registration, agent"]),
    (["describe", "sink/fiel"], ["there is no sink of type 'fiel'", "did you mean 'file'?"]),
    (["describe", "logger"], ["there is no kind 'logger'", "did you mean 'sink/logger'?"]),
    (["describe", "sink/"], ["there is no sink of type ''", "file, logger, null"]),
    (["send"], ["leat send"]),
    (["channel"], ["leat channel: a command is missing"]),
    (["channel", "inspct", "a"], ["leat channel: unknown command 'inspct'", "did you mean 'inspect'?"]),
    (["channel", "cat"], ["leat channel cat: DIR is missing"]),
    (["channel", "cat", "--jsno", "a"], ["leat channel cat: unknown option '--jsno'", "did you mean '--json'?"]),
    (["channel", "verify", "a", "b"], ["leat channel verify", "'b'"]),
])
def test_a_mistake_is_one_line_and_status_2(arguments, words):
    assert_usage_error(leat(*arguments), *words)


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["check", "--help"], ["describe"],
                                       ["describe", "--all=yaml"]])
def test_a_full_disk_is_no_success(arguments):
    with open("/dev/full", "w") as full:
        result = leat(*arguments, stdout=full)

    assert result.returncode == 1
    assert result.stderr.startswith("leat: standard output cannot be written")


@pytest.mark.parametrize("arguments", [["--version"], ["describe", "sink/thrift"], ["describe", "--all=json-schema"]])
def test_a_reader_that_went_away_is_no_success_and_told_nothing(arguments):
    reading, writing = os.pipe()
    os.close(reading)

    result = leat(*arguments, stdout=writing)
    os.close(writing)

    assert (result.returncode, result.stderr) == (1, "")


def test_arguments_behind_two_dashes_are_no_options():
    result = leat("check", "--", "--dot")

    assert result.returncode == 1
    assert result.stderr.startswith("--dot: the file cannot be read")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_bootstrap_shows_its_usage_and_builds_nothing(option, tmp_path):
    shown = subprocess.run([TREE / "bootstrap", option], capture_output=True, text=True, timeout=20,
                           env=dict(os.environ, BUILD_DIR=str(tmp_path / "build"), LEAT_NO_INSTALL="1"), check=False)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("bootstrap - ") and "./bootstrap check" in shown.stdout
    assert not (tmp_path / "build").exists()
