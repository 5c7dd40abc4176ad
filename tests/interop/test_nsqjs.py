"""test_nsqjs.py - a consumer that is not NSQ's own, nsqjs, finds nsqd through leat-registry."""
import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

from leat import wait_until
from nsq_programs import NsqWorld, ask

NODE = pathlib.Path(__file__).resolve().parent / "node"


@pytest.fixture(scope="session")
def nsqjs():
    """The folder with consume.js and what it needs, installed once into a cache outside the tree."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            pytest.skip(f"no nsqjs met leat-registry: there is no '{tool}' here")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "leat-interop"
    digest = hashlib.sha256((NODE / "package.json").read_bytes() + (NODE / "consume.js").read_bytes()).hexdigest()[:8]
    folder = cache / f"nsqjs-0.13.0-{digest}"
    partial = folder.with_suffix(".part")
    if not folder.exists():
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(NODE, partial)
        install = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional"],
                                 cwd=partial, capture_output=True, text=True, timeout=300, check=False)
        if install.returncode != 0:
            pytest.skip("no nsqjs met leat-registry: npm cannot install it: " + install.stderr.strip()[-300:])
        partial.rename(folder)
    return folder


@pytest.mark.parametrize("topic", ["t", "t#ephemeral"])
def test_nsqjs_finds_nsqd_and_consumes(tmp_path, nsq_programs, nsqjs, topic):
    world = NsqWorld(tmp_path, nsq_programs, original=False)
    world.start_registry()
    try:
        world.start_nsqd()
        for i in range(10):
            assert ask(world.nsqd_http, "/pub", "POST", f"message {i}".encode(), topic=topic)[0] == 200
        wait_until(lambda: ask(world.http, "/lookup", topic=topic)[0] == 200, "the topic is registered")
        consumed = subprocess.run(["node", "consume.js", f"127.0.0.1:{world.http}", topic, "10"], cwd=nsqjs,
                                  capture_output=True, text=True, timeout=60, check=False)
    finally:
        world.stop_all()

    assert sorted(consumed.stdout.split("\n")) == ["", *sorted(f"message {i}" for i in range(10))], consumed.stderr
