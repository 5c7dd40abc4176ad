#!/usr/bin/env python3
"""damage_table.py - each row of docs/file-channel-format.md names a test of damage, and each test has a row."""
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parents[2]
tests = sorted(name for path in (top / "tests/unit").glob("test_log_damage_*.c")
               for name in re.findall(r'"/log-damage/([\w-]+)"', path.read_text()))
page = (top / "docs/file-channel-format.md").read_text().partition("## What survives")[2]
rows = sorted(re.findall(r"^\| [^*].*\| `([\w-]+)` \|$", page, re.M))
problems = [f"docs/file-channel-format.md: no row for {name}" for name in tests if name not in rows]
problems += [f"docs/file-channel-format.md: there is no test {name}" for name in rows if name not in tests]
problems += [f"docs/file-channel-format.md: {name} twice" for name in set(rows) if rows.count(name) > 1]
print("\n".join(problems) or f"damage table: {len(rows)} rows hold")
sys.exit(bool(problems))
