#!/usr/bin/env python3
"""conformance.py - every test that docs/flume-differences.md names is there, and each test of Flume has one, or a reason."""
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parents[2]
tests = "".join(path.read_text() for suffix in ("c", "py") for path in sorted((top / "tests").rglob(f"*.{suffix}")))
defined = set(re.findall(r"^(?:def )?(test_\w+)\(", tests, re.M))
page = (top / "docs/flume-differences.md").read_text()
rows = re.findall(r"^\| (`.*?) \| (.*) \|$", page.split("## Flume's tests, row by row")[1], re.M)
named = set(re.findall(r"`(test_\w+)`", page))
problems = [f"there is no {name}" for name in sorted(named - defined)]
problems += [f"{flume} has neither a test nor 'none: reason'" for flume, here in rows if not re.search(r"`test_|none: \w", here)]
print("\n".join(f"docs/flume-differences.md: {problem}" for problem in problems)
      or f"conformance: {len(rows)} rows, {len(named)} tests are there")
sys.exit(bool(problems) or not rows)
