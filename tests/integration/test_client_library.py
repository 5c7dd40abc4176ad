"""test_client_library.py - the client library, installed: what it shows, what it needs, and programs that send with it."""
import re
import shutil
import subprocess
import textwrap

import pytest

from client_library import CHECKERS, COMPILER, TREE, run
from leat import wait_until

EXAMPLE = TREE / "docs" / "examples" / "send.c"


def words(text, pattern):
    return set(re.findall(pattern, text, re.M))


def manual_example(manual):
    """The program in the manual page, as troff shows it."""
    page = manual.read_text().split("example start", 1)[1]
    lines = page[page.index("\n.nf\n") + 5:page.index("\n.fi\n")].split("\n")
    return "\n".join("" if line == ".PP" else line for line in lines).replace("\\e", "\\").replace("\\-", "-") + "\n"


# ---- the library ----

def test_exactly_the_functions_of_the_header_are_exported(installed):
    exported = words(run(["nm", "-D", "--defined-only", installed.library]), r" [A-Z] ([a-z_]\w*)")
    declared = words(installed.header.read_text(), r"^LEAT_API [^;(]*?(\w+)\(")

    assert exported == declared
    assert len(declared) == 10


@pytest.mark.skipif(bool(CHECKERS), reason="this library was built with a sanitizer, or measures coverage")
def test_it_needs_glib_and_the_c_library_alone(installed):
    needed = words(run(["readelf", "-d", installed.library]), r"NEEDED.*\[(.*)\]")

    assert {name.split(".so")[0] for name in needed} <= {"libglib-2.0", "libc", "libpthread"}


def test_it_stays_loaded_since_its_threads_may_outlive_its_clients(installed):
    assert "NODELETE" in run(["readelf", "-d", installed.library])


def test_the_manual_and_the_header_tell_of_the_same_things(installed):
    header, manual = installed.header.read_text(), installed.manual.read_text().replace("\\-", "-")

    for pattern in (r"(leat_\w+)\(", r"\b(LEAT_ERROR_\w+)"):
        assert words(header, pattern) == words(manual, pattern)
    options = words(header, r"^ \*   ([a-z][a-z-]*)   ?")
    assert options == words(manual[manual.index(".SH OPTIONS"):manual.index(".SH ERRORS")], r"^\.TP\n\.B (\S+)$")
    assert len(options) == 14


@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_header_passes_strict_compilers(installed, tmp_path, language):
    compiler = COMPILER if language == "c" else [shutil.which("c++") or pytest.skip("there is no C++ compiler here")]
    standard = ["-x", "c", "-std=c99", "-Wstrict-prototypes"] if language == "c" else ["-x", "c++", "-std=c++11"]
    source = tmp_path / "source"
    source.write_text("#include <leat/client.h>\n")

    run([*compiler, *standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
         *installed.pkg_config("--cflags"), source])


# ---- programs ----

@pytest.fixture(scope="session")
def example(installed, tmp_path_factory):
    return installed.compile(EXAMPLE, tmp_path_factory.mktemp("example") / "send", "-std=c11")


def test_the_manual_and_the_page_about_clients_show_one_program(installed):
    assert f"```c\n{manual_example(installed.manual)}```\n" in (TREE / "docs" / "clients.md").read_text()


def test_the_program_of_the_manual_sends_its_batch(installed, collector, tmp_path):
    agent = collector()
    text = manual_example(installed.manual)
    source = tmp_path / "program.c"
    source.write_text(text.replace("127.0.0.1:4141", f"127.0.0.1:{agent.port('apps')}"))

    output, _ = installed.start(installed.compile(source, tmp_path / "program")).communicate(timeout=60)
    agent.stop()

    assert output == "2 of 2 acknowledged\n"
    assert [(e["headers"], e["body"]) for e in agent.records()] == [({"app": "demo"}, "hello"), ({"app": "demo"}, "world")]
    assert text.count("\n") <= 20


def test_the_example_is_short_and_sends_every_line_in_order(installed, example, collector):
    agent = collector()
    lines = [f"line {i}\n" for i in range(2500)] + ["\n", "no newline"]

    sender = installed.start(example, f"127.0.0.1:{agent.port('apps')}")
    output, errors = sender.communicate("".join(lines), timeout=60)
    agent.stop()

    assert (sender.returncode, output, errors) == (0, "", "")
    assert [event["body"] for event in agent.records()] == [line.rstrip("\n") for line in lines]
    assert all(event["headers"] == {"app": "send"} for event in agent.records())
    assert EXAMPLE.read_text().count("\n") < 60


def test_the_example_goes_on_with_the_other_agent_when_one_is_killed(installed, example, collector):
    first, second = collector(), collector()
    sender = installed.start(example, f"127.0.0.1:{first.port('apps')},127.0.0.1:{second.port('apps')}")

    sender.stdin.write("before\n" * 1000)
    sender.stdin.flush()
    wait_until(lambda: len(first.records()) == 1000, "the first agent has written its batch")
    first.kill()
    output, errors = sender.communicate("after\n" * 1000, timeout=60)
    second.stop()

    assert (sender.returncode, output, errors) == (0, "", "")
    bodies = [event["body"] for event in second.records()]
    assert bodies[-1000:] == ["after"] * 1000
    assert bodies[:-1000] in ([], ["before"] * 1000)  # again, if the kill was quicker than the answer


def test_the_example_tells_of_a_wrong_host(installed, example):
    sender = installed.start(example, "nowhere")
    output, errors = sender.communicate("", timeout=60)

    assert (sender.returncode, output) == (1, "")
    assert errors.startswith("hosts: 'nowhere' ") and errors.count("\n") == 1


GUEST = """
    import ctypes, re, signal, sys
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    def signals():
        rows = re.findall("^Sig(?:Blk|Ign|Cgt):(.*)", open("/proc/self/status").read(), re.M)
        return [int(row, 16) & 0x7fffffff for row in rows]  # without those that belong to the C library's threads
    class Event(ctypes.Structure):
        _fields_ = [("body", ctypes.c_char_p), ("length", ctypes.c_size_t), ("headers", ctypes.c_void_p), ("n", ctypes.c_size_t)]
    before = signals()
    library = ctypes.CDLL(sys.argv[1])
    library.leat_client_new.restype = ctypes.c_void_p
    library.leat_client_append.restype = ctypes.c_bool
    options = [b"hosts", b"localhost:" + sys.argv[2].encode(), b"call-timeout", b"2s", None]
    client = ctypes.c_void_p(library.leat_client_new((ctypes.c_char_p * len(options))(*options), None))
    event = Event(b"x" * 1000000, 1000000, None, 0)
    for line in sys.stdin:
        print(library.leat_client_append(client, ctypes.byref(event), None), flush=True)
    library.leat_client_free(client)
    assert signals() == before
"""


@pytest.mark.skipif(bool(CHECKERS), reason="Python cannot load a library that was built with a sanitizer")
def test_a_dying_agent_costs_the_application_neither_a_signal_nor_a_line(installed, collector, tmp_path):
    agent = collector()
    guest = tmp_path / "guest.py"
    guest.write_text(textwrap.dedent(GUEST))
    application = subprocess.Popen(["/usr/bin/python3", guest, installed.library, str(agent.port("apps"))], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def append():
        application.stdin.write("go\n")
        application.stdin.flush()
        return application.stdout.readline()

    assert append() == "True\n"
    agent.kill()
    assert [append(), append()] == ["False\n", "False\n"]
    output, errors = application.communicate(timeout=60)
    assert (application.returncode, output, errors) == (0, "", "")


def test_the_version_is_told_at_run_time_and_to_the_compiler_alike(installed, tmp_path):
    source = tmp_path / "version.c"
    source.write_text("#include <leat/client.h>\n#include <stdio.h>\nint main(void) { puts(leat_version()); return 0; }\n")

    output, _ = installed.start(installed.compile(source, tmp_path / "version")).communicate(timeout=60)

    assert [output.strip()] == installed.pkg_config("--modversion")
