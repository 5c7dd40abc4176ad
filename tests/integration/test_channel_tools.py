"""test_channel_tools.py - leat channel inspect, verify and cat on what a real agent has written, while it runs and after."""
import json
import os
import re
import subprocess

from leat import draw, is_built_with, program, wait_until

NOWHERE = {"type": "thrift", "hosts": ["127.0.0.1:1"]}


def spooling(leat, count, sink, source=None, **options):
    """An agent that puts numbers into a file channel, and the folder of that channel."""
    agent = leat({
        "agent": {"http": "127.0.0.1:0"},
        "sources": {"numbers": {"type": "sequence", "channels": ["spool"], "count": count, "rate": 0, "batch-size": 50,
                                **(source or {})}},
        "channels": {"spool": {"type": "file", "directory": "spool", "segment-size": "64KiB", "reserve": "0B", **options}},
        "sinks": {"out": {**sink, "channel": "spool"}},
    })
    return agent, agent.folder / "spool"


def put(leat, count, **options):
    """The same, once everything is in it and the agent has stopped."""
    agent, folder = spooling(leat, count, NOWHERE, **options)
    agent.wait_for_log("source has nothing more to send")
    agent.stop()
    return folder


def channel(command, *arguments, **keywords):
    return subprocess.run([program(), "channel", command, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=20, **keywords)


def numbers(first, end):
    return "".join(f"{n}\n" for n in range(first, end))


def test_cat_prints_what_is_queued_and_leaves_it_there(leat):
    agent, folder = spooling(leat, 5000, NOWHERE)
    agent.wait_for_log("source has nothing more to send")

    for _ in range(2):
        result = channel("cat", folder)
        assert (result.returncode, result.stderr, result.stdout) == (0, "", numbers(0, 5000))


def test_cat_prints_json_as_the_file_sink_does(leat):
    folder = put(leat, 3)

    lines = channel("cat", "--json", folder).stdout.splitlines()

    assert [json.loads(line) for line in lines] == [{"headers": {}, "body": str(n)} for n in range(3)]


def test_cat_reads_compressed_records(leat):
    folder = put(leat, 2000, compression="zstd" if is_built_with("zstd") else "none")

    assert channel("cat", folder).stdout == numbers(0, 2000)


def test_what_was_delivered_is_not_printed(leat):
    agent, folder = spooling(leat, 3000, {"type": "file", "directory": "out"})
    agent.wait_for_log("source has nothing more to send")

    wait_until(lambda: channel("cat", folder).stdout == "", "everything is consumed")
    agent.stop()
    assert channel("cat", folder).stdout == ""
    assert "events      0 queued, the next one is event 3000" in channel("inspect", folder).stdout


def test_inspect_shows_events_segments_and_age(leat):
    folder = put(leat, 20000)

    result = channel("inspect", folder)

    assert (result.returncode, result.stderr) == (0, "")
    assert "events      20000 queued, the next one is event 20000\n" in result.stdout
    assert re.search(r"^oldest      [\d.]+ \w+ old, put at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", result.stdout, re.M)
    assert "damage      none seen" in result.stdout
    rows = re.findall(r"^(\d{16}\.segment) +\S+ +(\d+) +(\d+) +(\d+) ", result.stdout, re.M)
    assert [row[0] for row in rows] == sorted(name for name in os.listdir(folder) if name.endswith(".segment"))
    assert len(rows) > 3 and sum(int(row[3]) for row in rows) == 20000
    assert [int(row[1]) + int(row[2]) for row in rows[:-1]] == [int(row[1]) for row in rows[1:]]


def test_verify_names_file_and_offset_of_a_damage(leat):
    folder = put(leat, 20000)
    second = sorted(folder.glob("*.segment"))[1]
    with open(second, "r+b") as file:
        file.seek(4096 + 60)
        file.write(b"\xff\xff\xff")

    result = channel("verify", folder)

    assert result.returncode == 1
    assert re.search(rf"^{second.name}:4096: \d+ bytes are damaged$", result.stdout, re.M)
    assert result.stdout.endswith("damaged in 2 places; 50 events lost\n")
    printed = channel("cat", folder)
    assert printed.returncode == 1 and f"{second.name}:4096:" in printed.stderr
    assert len(printed.stdout.splitlines()) == 20000 - 50


def test_nothing_is_changed(leat):
    folder = put(leat, 5000)
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()}

    for command in ("inspect", "verify", "cat"):
        channel(command, folder)

    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir()} == before


def test_a_busy_agent_is_not_taken_for_damage(leat):
    """Segments are written to, closed and deleted all the time."""
    agent, folder = spooling(leat, 10_000_000, {"type": "null", "batch-size": 70}, source={"rate": 40000})
    wait_until(lambda: len(list(folder.glob("*.segment"))) > 0 and not (folder / "0000000000000001.segment").exists(),
               "the first segment is deleted")

    for _ in range(10):
        result = channel("verify", folder)
        assert (result.returncode, result.stderr) == (0, ""), result.stdout
        assert channel("inspect", folder).returncode == 0
        printed = channel("cat", folder)
        assert (printed.returncode, printed.stderr) == (0, "")
        bodies = [int(line) for line in printed.stdout.splitlines()]
        assert bodies == sorted(set(bodies))


def drawn_by(command, folder):
    """What a command shows on a terminal while it works."""
    result, drawn = draw([program(), "channel", command, folder])
    assert result.returncode == 0
    return drawn


def test_progress_is_shown_on_a_terminal(leat):
    folder = put(leat, 20000)

    assert re.search(r"\[[#.]{20}\] +\d+%  \d+ events", drawn_by("verify", folder))


def test_progress_goes_on_while_a_large_file_has_no_records(leat):
    """One that is much larger than its events, and no checkpoint says where they end."""
    folder = put(leat, 20)
    (folder / "checkpoint").unlink()
    os.truncate(folder / "0000000000000001.segment", 1 << 30)

    for command in ("inspect", "verify"):
        assert re.search(r"\] +[1-9]\d*%  20 events", drawn_by(command, folder)), command


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "README").write_text("hello")

    for command in ("inspect", "verify", "cat"):
        result = channel(command, tmp_path)
        assert (result.returncode, result.stdout) == (1, "")
        assert result.stderr == f"leat channel {command}: '{tmp_path}' is not the directory of a file channel\n"
        assert channel(command, tmp_path / "nowhere").returncode == 1
