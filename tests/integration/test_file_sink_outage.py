"""test_file_sink_outage.py - a disk that is full, a folder that is forbidden: the sink waits, loses nothing, goes on."""
import contextlib
import os
import subprocess

import pytest

import files
from leat import needs, wait_until

N_EVENTS = 40000


def config(folder, **sink):
    return {
        "agent": {"name": "story", "http": "127.0.0.1:0"},
        "sources": {"numbers": {"type": "sequence", "rate": 0, "count": N_EVENTS, "batch-size": 100, "size": 100,
                                "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory", "capacity": 2000, "put-timeout": "30s"}},
        "sinks": {"out": {"type": "file", "channel": "buffer", "directory": str(folder), "backoff": "10ms",
                          "max-backoff": "50ms", **sink}},
    }


def numbers(folder):
    return [int(line.rstrip(b".")) for line in files.lines(folder)]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 8 MiB; mounting one needs root."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "leat-story", str(disk)], capture_output=True,
                           text=True)
    if mount.returncode != 0:
        pytest.skip(f"cannot mount a small file system: {mount.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk, leave):
    """Takes all but so many bytes of a file system."""
    ballast = disk / "ballast"
    free = os.statvfs(disk)
    ballast.write_bytes(bytes(free.f_bavail * free.f_frsize - leave))
    return ballast


@pytest.mark.parametrize("sync", ["batch", "interval", "never"])
def test_a_full_disk_is_waited_for(leat, small_disk, sync):
    ballast = fill(small_disk, leave=300000)
    agent = leat(config(small_disk / "events", sync=sync, **{"roll-size": "1MiB"}))
    failure = agent.wait_for_log("delivery failed, backing off")
    assert "No space left on device; free space" in failure["error"] and str(small_disk) in failure["error"]
    agent.wait_for_log("delivery failed again")

    ballast.unlink()

    agent.wait_for_log("destination recovered")
    agent.wait_for_log("source has nothing more to send")
    agent.stop()
    assert numbers(small_disk / "events") == list(range(N_EVENTS))
    assert len(agent.log("delivery failed, backing off")) == 1


@pytest.mark.parametrize("compression", [pytest.param("gzip", marks=needs("zlib")),
                                         pytest.param("zstd", marks=needs("zstd"))])
def test_a_full_disk_leaves_compressed_files_whole(leat, small_disk, compression):
    ballast = fill(small_disk, leave=20000)
    agent = leat(config(small_disk / "events", compression=compression))
    agent.wait_for_log("delivery failed again")

    ballast.unlink()

    agent.wait_for_log("source has nothing more to send")
    agent.stop()
    assert numbers(small_disk / "events") == list(range(N_EVENTS))


def test_a_limit_of_the_file_size_ends_files_and_not_the_agent(leat, tmp_path):
    folder = tmp_path / "events"
    agent = leat(config(folder), prefix=["prlimit", f"--fsize={1 << 20}"])

    agent.wait_for_log("source has nothing more to send")
    agent.stop()

    assert all(path.stat().st_size <= 1 << 20 for path in files.paths(folder)) and len(files.paths(folder)) >= 4
    assert numbers(folder) == list(range(N_EVENTS))


@contextlib.contextmanager
def forbidden(folder):
    """Nothing can be made or renamed in the folder. Root is stopped by an attribute, others by the mode."""
    if os.geteuid() != 0:
        folder.chmod(0o500)
        yield
        folder.chmod(0o700)
        return
    attribute = subprocess.run(["chattr", "+i", str(folder)], capture_output=True, text=True)
    if attribute.returncode != 0:
        pytest.skip(f"cannot forbid a folder to root: {attribute.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", str(folder)], check=True)


def test_a_forbidden_folder_is_waited_for(leat, tmp_path):
    folder = tmp_path / "events"
    folder.mkdir()
    endless = config(folder, **{"roll-count": 1000})
    endless["sources"]["numbers"].update({"count": 0, "rate": 20000})
    agent = leat(endless)
    wait_until(lambda: files.paths(folder), "the agent writes")
    with forbidden(folder):
        failure = agent.wait_for_log("delivery failed, backing off")
        assert "give the agent's user the right" in failure["error"] and str(folder) in failure["error"]
        agent.wait_for_log("delivery failed again")

    agent.wait_for_log("destination recovered")
    n_before = agent.metric("leat_source_events_accepted_total")
    agent.stop()
    written = numbers(folder)
    assert written == list(range(len(written))) and len(written) >= n_before
    assert agent.wait_for_log("stopped")["events_lost"] == 0


def test_a_folder_that_cannot_be_written_to_refuses_the_start(leat, tmp_path):
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    agent = leat(config(in_the_way / "events"), start=False).launch()

    assert agent.wait() == 1
    [refused] = agent.log("the agent cannot start")
    assert "sink 'out'" in refused["error"] and "a folder is needed" in refused["error"]


def test_a_folder_that_cannot_be_made_refuses_the_start_and_says_to_check_the_path(leat):
    agent = leat(config("/proc/nope"), start=False).launch()

    assert agent.wait() == 1
    [refused] = agent.log("the agent cannot start")
    assert refused["error"].endswith("cannot make the folder '/proc/nope': No such file or directory; "
                                     "folders cannot be made there; check the path")
