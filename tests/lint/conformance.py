#!/usr/bin/env python3
"""conformance.py - every test that docs/flume-differences.md names is there."""
import pathlib
import re
import sys

top = pathlib.Path(__file__).resolve().parents[2]
tests = "".join(path.read_text() for suffix in ("c", "py") for path in sorted((top / "tests").rglob(f"*.{suffix}")))
defined = set(re.findall(r"^(?:def )?(test_\w+)\(", tests, re.M))
named = set(re.findall(r"`(test_\w+)`", (top / "docs/flume-differences.md").read_text()))
missing = sorted(named - defined)
print("\n".join(f"docs/flume-differences.md: there is no {name}" for name in missing) or f"conformance: {len(named)} tests are there")
sys.exit(bool(missing) or not named)
