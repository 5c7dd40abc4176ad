"""tap.py - a line for each story as it ends, for Automake's driver: `ok 3 - test_send.py::test_x`, and why it failed."""
import re
import sys

SLOWEST = 10  # stories whose time is told at the end


class TapReporter:
    """In place of pytest's own report. A story is one test, whether it fails in its fixtures or in itself."""

    def __init__(self):
        self.number = 0
        self.reports = []  # of the story that runs
        self.seconds = {}

    def write(self, line):
        print(line, file=sys.stdout, flush=True)

    def explain(self, text):
        """Whatever the text holds, no line of it counts as a result."""
        for line in text.splitlines():
            self.write(f"# {line}".rstrip())

    # ---- pytest's hooks ----

    def pytest_collectreport(self, report):
        if report.failed:
            self.explain(report.longreprtext)
            self.write(f"Bail out! {report.nodeid} cannot be read")

    def pytest_collection_finish(self, session):
        self.write(f"1..{len(session.items)}")

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)

    def pytest_runtest_logfinish(self, nodeid):
        reports, self.reports = self.reports, []
        self.number += 1
        name = re.sub(r"^[^:]*/", "", nodeid).replace("#", "_")
        failed = [report for report in reports if report.failed]
        skipped = [report for report in reports if report.skipped]
        self.seconds[name] = sum(report.duration for report in reports)
        if failed:
            self.write(f"not ok {self.number} - {name}")
        elif skipped:
            self.write(f"ok {self.number} - {name} # SKIP {skipped[0].longrepr[2].removeprefix('Skipped: ')}")
        else:
            self.write(f"ok {self.number} - {name}")
        for report in failed:
            self.explain(f"---- {name}: {report.when}\n{report.longreprtext}")
        for title, text in reports[-1].sections if failed else []:  # the last has those of the others
            self.explain(f"---- {title}\n{text}")

    def pytest_internalerror(self, excrepr):
        self.explain(str(excrepr))

    def pytest_sessionfinish(self):
        for name in sorted(self.seconds, key=self.seconds.get, reverse=True)[:SLOWEST]:
            self.explain(f"{self.seconds[name]:6.2f} s  {name}")
