"""maven_jars.py - jars that a pom.xml names, fetched once into a cache outside the tree."""
import hashlib
import os
import pathlib
import shutil
import subprocess

JAVA = pathlib.Path(__file__).resolve().parent / "java"


class NoJars(Exception):
    """Why there are none."""


def find_jars(name, pom, *properties):
    """The class path, fetched by Maven the first time; properties are words for it such as "-Dx=1"."""
    for tool in ("java", "javac", "mvn"):
        if shutil.which(tool) is None:
            raise NoJars(f"there is no '{tool}' here")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "leat-interop"
    jars = cache / f"{name}-{hashlib.sha256(pom.read_bytes()).hexdigest()[:8]}"
    partial = jars.parent / f"{jars.name}.part"
    if not jars.exists():
        shutil.rmtree(partial, ignore_errors=True)
        fetch = subprocess.run(
            ["mvn", "-B", "-q", "-f", pom, *properties, "dependency:copy-dependencies", f"-DoutputDirectory={partial}"],
            capture_output=True, text=True, timeout=900, check=False)
        if fetch.returncode != 0:
            raise NoJars(f"Maven cannot get the jars of {name}: " + (fetch.stdout + fetch.stderr).strip()[:300])
        partial.rename(jars)
    return f"{jars}/*"
