"""side_by_side.py - pytest's --jobs=N: stories in N processes at once, as they mostly wait; afterwards those marked `alone`.

The processes are forked once all stories are collected. Each takes a file of stories, runs it to its end, takes the next; what
is to be reported goes to the first process and its reporters, as if that had run them.
"""
import json
import os
import selectors
import struct

import pytest

INDEX = struct.Struct("H")  # of a file of stories, in the pipe that they are taken from


class Forwarder:
    """The only reporter of a process that was forked: writes a line of JSON as a story begins, and one of all its reports."""

    def __init__(self, config, out):
        self.config, self.out = config, out
        self.reports = []

    def send(self, **said):
        self.out.write(json.dumps(said).encode() + b"\n")
        self.out.flush()

    def pytest_runtest_logstart(self, nodeid):
        self.send(started=nodeid)

    def pytest_runtest_logreport(self, report):
        self.reports.append(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_runtest_logfinish(self, nodeid, location):
        reports, self.reports = self.reports, []
        self.send(ended=nodeid, location=location, reports=reports)


class Worker:
    """A forked process, as the first one sees it."""

    def __init__(self, config, files, queue):
        self.config = config
        self.said = b""  # and not yet understood
        self.story = None  # that it is in
        self.pipe, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                work(config, files, queue, os.fdopen(writing, "wb"))
                status = 0
            finally:
                os._exit(status)  # what is left to be done at the end is for the first process
        os.close(writing)

    def listen(self):
        """False once it has nothing more to say."""
        data = os.read(self.pipe, 1 << 20)
        *lines, self.said = (self.said + data).split(b"\n")
        for line in lines:
            self.repeat(json.loads(line))
        return data != b""

    def repeat(self, said):
        self.story = said.get("started")
        if self.story is not None:
            return
        hook, story = self.config.hook, {"nodeid": said["ended"], "location": tuple(said["location"])}
        hook.pytest_runtest_logstart(**story)
        for data in said["reports"]:
            if isinstance(data["longrepr"], list):  # where and why it was skipped; JSON has no tuples
                data["longrepr"] = tuple(data["longrepr"])
            hook.pytest_runtest_logreport(report=hook.pytest_report_from_serializable(config=self.config, data=data))
        hook.pytest_runtest_logfinish(**story)

    def join(self):
        os.close(self.pipe)
        status = os.waitpid(self.pid, 0)[1]
        assert status == 0, f"a process that ran stories has died in {self.story}: {status:#x}"


def run(config, stories):
    for item, following in zip(stories, [*stories[1:], None]):
        config.hook.pytest_runtest_protocol(item=item, nextitem=following)


def work(config, files, queue, out):
    """What a forked process does: files of stories, as long as there are any."""
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()  # into files that all would share
    capture.start_global_capturing()
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ in ("TerminalReporter", "TapReporter"):
            config.pluginmanager.unregister(plugin)
    config.pluginmanager.register(Forwarder(config, out))
    while index := os.read(queue, INDEX.size):
        run(config, files[INDEX.unpack(index)[0]])


def run_side_by_side(config, files, n_jobs):
    queue, filling = os.pipe()
    os.write(filling, b"".join(map(INDEX.pack, range(len(files)))))
    os.close(filling)
    workers = [Worker(config, files, queue) for _ in range(n_jobs)]
    os.close(queue)
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker.pipe, selectors.EVENT_READ, worker)
        while selector.get_map():
            for key, _ in selector.select():
                if not key.data.listen():
                    selector.unregister(key.fileobj)
    for worker in workers:
        worker.join()


@pytest.hookimpl
def pytest_runtestloop(session):
    """In place of pytest's own, which has one story after the other."""
    n_jobs = session.config.getoption("jobs")
    if n_jobs == 1 or session.testsfailed or session.config.option.collectonly:
        return None
    files, alone = {}, []
    for item in session.items:
        (alone if item.get_closest_marker("alone") else files.setdefault(item.path, [])).append(item)
    session.config._tmp_path_factory.getbasetemp()  # made here once, or each process would clear it for itself
    run_side_by_side(session.config, list(files.values()), n_jobs)
    run(session.config, alone)
    return True
