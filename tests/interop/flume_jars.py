"""flume_jars.py - the jars of Apache Flume, client and agent, fetched once into a cache outside the tree."""
import hashlib
import os
import pathlib
import shutil
import subprocess

import pytest

JAVA = pathlib.Path(__file__).resolve().parent / "java"


class NoFlume(Exception):
    """Why there is none."""


def find_flume():
    """The class path with Flume 1.11.0, fetched by Maven the first time."""
    for tool in ("java", "javac", "mvn"):
        if shutil.which(tool) is None:
            raise NoFlume(f"there is no '{tool}' here")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "leat-interop"
    pom = JAVA / "pom.xml"
    jars = cache / f"flume-1.11.0-{hashlib.sha256(pom.read_bytes()).hexdigest()[:8]}"
    partial = jars.with_suffix(".part")
    if not jars.exists():
        shutil.rmtree(partial, ignore_errors=True)
        fetch = subprocess.run(
            ["mvn", "-B", "-q", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={partial}"],
            capture_output=True, text=True, timeout=900, check=False)
        if fetch.returncode != 0:
            raise NoFlume("Maven cannot get the jars of Apache Flume: " + (fetch.stdout + fetch.stderr).strip()[:300])
        partial.rename(jars)
    return f"{jars}/*"


@pytest.fixture(scope="session")
def flume_jars():
    """The class path; without Java, Maven or the network the story is skipped."""
    try:
        return find_flume()
    except NoFlume as reason:
        pytest.skip(f"no Flume met leat: {reason}")
