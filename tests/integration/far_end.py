"""far_end.py - a Thrift source as a process of its own, which can be killed and frozen. It writes each event to a file, with
the time, and answers OK only then; a batch that holds the word "poison" is answered FAILED.

    far = FarEnd(tmp_path / "a")
    far.freeze(); far.thaw(); far.kill(); far.start()
    far.bodies, far.times

prefix: a command that runs it in its turn, such as ["ip", "netns", "exec", NAME].
"""
import os
import pathlib
import signal
import subprocess
import sys
import time

from leat import free_port, wait_until


class FarEnd:
    def __init__(self, path, start=True, host="127.0.0.1", port=None, prefix=()):
        self.path = pathlib.Path(path)
        self.host = host
        self.prefix = list(prefix)
        self.path.touch()
        self.port = port or free_port()
        self.process = None
        self.read = []  # records, of the first n_read bytes of the file
        self.n_read = 0
        self.start()
        if not start:
            self.kill()  # its port stays known, and free

    def start(self):
        """Under the same port as before."""
        self.process = subprocess.Popen([*self.prefix, sys.executable, __file__, self.host, str(self.port), str(self.path)],
                                        stdout=subprocess.PIPE, text=True)
        assert int(self.process.stdout.readline()) == self.port

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def freeze(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def close(self):
        if self.process.poll() is None:
            self.kill()

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    @property
    def records(self):
        """(time, headers that begin with "leat.", body) of each event, as they came."""
        with self.path.open("rb") as file:
            file.seek(self.n_read)
            new = file.read()
        new = new[:new.rfind(b"\n") + 1]
        self.n_read += len(new)
        self.read += [(float(t), leat, body) for t, leat, body in (line.split("\t") for line in new.decode().split("\n")[:-1])]
        return self.read

    @property
    def bodies(self):
        return [body for _, _, body in self.records]

    @property
    def times(self):
        return [when for when, _, _ in self.records]

    def wait_for(self, n_events):
        wait_until(lambda: len(self.records) >= n_events, f"{n_events} events are at {self.path.name}")


def main(host, port, path):
    from flume_api import FlumePeer, Status

    out = open(path, "a", encoding="utf-8")

    def answer(batch):
        bodies = [event.body.decode() for event in batch]
        if any("poison" in body for body in bodies):
            return Status.FAILED
        now = time.monotonic()
        leat = [" ".join(f"{k}={v}" for k, v in sorted(event.headers.items()) if k.startswith("leat."))
                for event in batch]
        out.write("".join(f"{now}\t{header}\t{body}\n" for header, body in zip(leat, bodies)))
        out.flush()
        return Status.OK

    peer = FlumePeer(answer=answer, host=host, port=port)
    print(peer.port, flush=True)
    while True:
        signal.pause()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
