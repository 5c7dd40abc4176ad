"""files.py - what a file sink left in a folder, for the stories about it."""
import gzip
import pathlib
import re
import shutil
import subprocess
import zlib

import pytest

STAMP = re.compile(r"-\d{8}T\d{6}\.\d{3}Z-(\d{6,10})")


def paths(folder, tmp=None):
    """Files below a folder in the order of their names; tmp chooses those in use, or those that are not."""
    found = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file() or path.is_symlink())
    return [path for path in found if tmp is None or tmp == (path.suffix == ".tmp")]


def names(folder):
    """Relative paths with their time left out: 'web/out-000001.log'."""
    return [STAMP.sub(r"-\1", path.relative_to(folder).as_posix()) for path in paths(folder)]


def read_whole(path):
    """The content, through a reader that accepts nothing but a complete file."""
    if ".gz" in path.suffixes:
        return gzip.decompress(path.read_bytes())
    if ".zst" in path.suffixes:
        return zstd("-dcq", path, check=True).stdout
    return path.read_bytes()


def read_so_far(path):
    """The content of a file that may end anywhere."""
    if ".gz" in path.suffixes:
        return zlib.decompressobj(31).decompress(path.read_bytes())
    if ".zst" in path.suffixes:
        return zstd("-dcq", path, check=False).stdout
    return path.read_bytes()


def zstd(options, path, check):
    if shutil.which("zstd") is None:
        pytest.skip("needs the zstd command (Debian: zstd)")
    with path.open("rb") as content:
        return subprocess.run(["zstd", options], stdin=content, capture_output=True, check=check)


def lines(folder, tmp=None, read=read_whole):
    """Lines of all files together."""
    return [line for path in paths(folder, tmp) for line in read(path).splitlines()]
