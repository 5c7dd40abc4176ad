#!/usr/bin/env python3
"""layers.py - includes point down only, and the catalogue, the build and the folders agree."""
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parents[2]
problems = []

# Folder -> what its files may include besides their own folder. The longest prefix counts.
LAYERS = {
    "base": [],
    "thrift/wire": ["base"],
    "thrift": ["thrift/wire", "base"],
    "client": ["thrift/wire", "base"],
    "client/discovery": ["client", "registry/wire", "base"],
    "registry/wire": ["base"],
    "registry": ["registry/wire", "base"],
    "agent/core": ["base"],
    "agent/sources": ["agent/core", "thrift", "base"],
    "agent/interceptors": ["agent/core", "base"],
    "agent/selectors": ["agent/core", "base"],
    "agent/channels": ["agent/channels/file_channel", "agent/core", "base"],
    "agent/channels/file_channel": ["agent/core", "base"],
    "agent/sinks": ["agent/core", "client", "client/discovery", "base"],
    "agent/registration": ["agent/core", "registry/wire", "base"],
    "agent/commands": ["agent", "agent/channels/file_channel", "agent/core", "client", "client/discovery", "registry/wire",
                       "thrift/wire", "base"],
    "agent": ["agent/commands", "agent/registration", "agent/core", "base"],
}
PART_FOLDERS = {"sources": "SOURCES", "interceptors": "INTERCEPTORS", "selectors": "SELECTORS",
                "channels": "CHANNELS", "sinks": "SINKS", "registration": "REGISTRATIONS"}


def folder_of(path):
    return max((f for f in LAYERS if str(path).startswith(f + "/")), key=len, default=None)


def check_includes(path):
    own = folder_of(path)
    text = (top / path).read_text()
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match and "/" in match[1] and folder_of(match[1]) not in [own, *LAYERS[own]]:
            problems.append(f"{path}:{number}: {own}/ must not include {match[1]}")
        if re.match(r'\s*#\s*include\s+[<"](thrift/c_glib|flume_)', line) and own != "thrift":
            problems.append(f"{path}:{number}: only thrift/ may include c_glib and generated headers")
        if own.startswith(("registry", "client/discovery")) and "g_str_hash" in line:
            problems.append(f"{path}:{number}: peers can make texts collide in it; use text_hash")
    if not re.match(r"/\* " + re.escape(path.name) + r" - ", text):
        problems.append(f"{path}:1: the first line says what the file is: /* {path.name} - ... */")


def check_builds(sources):
    listed = set()
    for fragment in top.rglob("local.mk"):
        if "build" in fragment.relative_to(top).parts[0]:
            continue
        base = fragment.parent.relative_to(top)
        for name in re.findall(r"%D%/([\w./-]+\.[ch])\b", fragment.read_text()):
            listed.add((base / name).as_posix())
    for path in sources:
        if path.as_posix() not in listed:
            problems.append(f"{path}: in no local.mk")


def check_catalogue():
    catalogue = re.sub(r"\\\n", " ", (top / "agent/builtin.h").read_text())
    for folder, macro in PART_FOLDERS.items():
        match = re.search(rf"#define BUILTIN_{macro}\(X\)([^\n]*)", catalogue)
        registered = set(re.findall(r"X\((\w+)\)", match[1])) if match else set()
        kind = {"SOURCES": "SourceType", "INTERCEPTORS": "InterceptorType", "SELECTORS": "SelectorType",
                "CHANNELS": "ChannelType", "SINKS": "SinkType", "REGISTRATIONS": "RegistrationType"}[macro]
        defined = set()
        for path in sorted((top / "agent" / folder).rglob("*.c")):
            defined |= set(re.findall(rf"^const {kind} (\w+) = ", path.read_text(), re.M))
        for name in sorted(defined ^ registered):
            problems.append(f"agent/builtin.h: {name} is {'not registered' if name in defined else 'nowhere defined'}")


sources = sorted(p.relative_to(top) for f in ("base", "thrift", "client", "registry", "agent") for p in (top / f).rglob("*.[ch]"))
for source in sources:
    check_includes(source)
check_builds(sources)
check_catalogue()
print("\n".join(problems) or f"layers: {len(sources)} files hold")
sys.exit(bool(problems))
