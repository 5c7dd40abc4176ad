"""client_library.py - the client library as `make install` lays it down, and programs that are compiled against it."""
import os
import pathlib
import shlex
import subprocess

import pytest

from leat import program

BUILD = pathlib.Path(program()).resolve().parent
TREE = pathlib.Path(__file__).resolve().parents[2]
COMPILER = shlex.split(os.environ.get("CC") or "cc")
# What programs need to be linked to a library that was built with them.
CHECKERS = [f for f in shlex.split(os.environ.get("LEAT_CFLAGS", "")) if f.startswith(("-fsanitize", "--coverage"))]


def run(command, **keywords):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False, **keywords)
    assert done.returncode == 0, f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


class Installed:
    """The library in a folder of its own, found by pkg-config as if it had been configured for that folder."""

    def __init__(self, folder):
        environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        run(["make", "-C", BUILD, "install", f"DESTDIR={folder}"], env=environment)
        self.library = next(folder.rglob("libleat-client.so"))
        self.header = next(folder.rglob("leat/client.h"))
        self.manual = next(folder.rglob("libleat-client.3"))
        self._relocate(next(folder.rglob("leat-client.pc")), folder)

    def _relocate(self, module, folder):
        self.modules = folder / "pkgconfig"
        self.modules.mkdir()
        lines = [f"prefix={folder}{line.split('=', 1)[1]}" if line.startswith("prefix=") else line
                 for line in module.read_text().splitlines()]
        (self.modules / module.name).write_text("\n".join(lines) + "\n")

    def pkg_config(self, *arguments):
        path = f"{self.modules}:{os.environ.get('PKG_CONFIG_PATH', '')}"
        return run(["pkg-config", *arguments, "leat-client"], env=dict(os.environ, PKG_CONFIG_PATH=path)).split()

    def compile(self, source, output, *flags):
        """As the manual says, with every warning an error."""
        run([*COMPILER, *CHECKERS, "-Wall", "-Wextra", "-Werror", *flags, "-o", output, source, *self.pkg_config("--cflags", "--libs")])
        return output

    def start(self, *command, **keywords):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(self.library.parent))
        return subprocess.Popen([str(word) for word in command], env=environment, text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    if not (BUILD / "Makefile").exists():
        pytest.skip(f"the client library was not installed: {BUILD} is no build folder")
    return Installed(tmp_path_factory.mktemp("installed"))
