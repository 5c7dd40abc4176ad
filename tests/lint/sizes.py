#!/usr/bin/env python3
"""sizes.py - no file over 500 lines, no function over 60, no left-over marks, no foreign names."""
import pathlib
import re
import shutil
import subprocess
import sys

top = pathlib.Path(__file__).resolve().parents[2]
problems = []
FILE_LINES, FUNCTION_LINES = 500, 60
MARKS = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")


def functions(lines):
    """Name and length of each function: a name at the start of a line, up to a } at the start of one."""
    start = name = None
    for number, line in enumerate(lines):
        match = re.match(r"(\w+)\(", line)
        if match and start is None:
            start, name = number, match[1]
        elif start is not None and line.startswith("}"):
            yield name, start + 1, number - start + 1
            start = None
        elif start is not None and line.endswith(";") and not line.startswith((" ", "\t")):
            start = None


def files():
    if shutil.which("git"):
        tracked = subprocess.run(["git", "-C", top, "ls-files"], capture_output=True, text=True, check=False)
        if tracked.returncode == 0 and tracked.stdout:
            return [pathlib.Path(name) for name in tracked.stdout.splitlines()]
    return [p.relative_to(top) for p in top.rglob("*") if p.is_file() and not p.relative_to(top).parts[0].startswith(("build", "_"))]


checked = 0
for path in files():
    if path.suffix not in (".c", ".h", ".py", ".sh", ".mk", ".am", ".java") or not (top / path).is_file():
        continue
    checked += 1
    lines = (top / path).read_text().splitlines()
    if len(lines) > FILE_LINES:
        problems.append(f"{path}: {len(lines)} lines; at most {FILE_LINES}, so look for its second idea")
    if path.suffix == ".c":
        for name, where, length in functions(lines):
            if length > FUNCTION_LINES:
                problems.append(f"{path}:{where}: {name} has {length} lines; at most {FUNCTION_LINES}")
    if path.name != "sizes.py":
        problems += [f"{path}:{n}: {MARKS.search(line)[0]} left behind" for n, line in enumerate(lines, 1) if MARKS.search(line)]
print("\n".join(problems) or f"sizes: {checked} files hold")
sys.exit(bool(problems))
