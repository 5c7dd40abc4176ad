"""test_thrift_source_soak.py - malformed messages without end: memory and descriptors stay flat, nobody else notices.

A sample in `make check`; all hundred thousand with LEAT_SOAK=1 in the environment.
"""
import os
import random

import pytest

import wire
from leat import wait_until
from thrift_agent import assert_grew_at_most, config, open_connections
from wire import Raw

N_MESSAGES = 100_000 if os.environ.get("LEAT_SOAK") else 3_000


def good_messages(protocol):
    headers = {"host": "a", "level": "info"}
    return [
        wire.append(protocol, b"body", headers),
        wire.append_batch(protocol, [b"body"] * 3, headers),
        wire.append_batch(protocol, [b"x" * 300] * 200, headers),
        wire.append_batch(protocol, []),
        wire.message(protocol, "unknown"),
        wire.raw_append(protocol, wire.field(protocol, 9, "struct", b"") * 30 + wire.STOP * 30
                        + wire.raw_event(protocol, [(b"k", b"v")])),
    ]


def spoil(dice, data):
    """A copy with something wrong: bytes changed, cut off, put in, said twice; or all of it, now and then, left alone."""
    data = bytearray(data)
    for _ in range(dice.choice([1, 1, 1, 2, 5])):
        at = dice.randrange(len(data)) if data else 0
        kind = dice.randrange(6)
        if kind == 0 and data:
            data[at] = dice.randrange(256)
        elif kind == 1 and data:
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data[at:at] = bytes(dice.randrange(256) for _ in range(dice.randrange(1, 9)))
        elif kind == 4:
            del data[at:at + dice.randrange(1, 9)]
        else:
            data[at:at] = data[at:at + dice.randrange(1, 60)]
    return bytes(data)


class Attacker:
    """Sends spoiled frames on one connection after another."""

    def __init__(self, port, protocol, seed):
        self.port, self.protocol = port, protocol
        self.dice = random.Random(seed)
        self.messages = good_messages(protocol)
        self.client = None

    def attack(self):
        if self.client is None:
            self.client = Raw(self.port, self.protocol)
        frame = wire.frame(spoil(self.dice, self.dice.choice(self.messages)))
        if self.dice.randrange(20) == 0:
            frame = spoil(self.dice, frame)
        try:
            self.client.send(frame)
            if self.dice.randrange(4) == 0:
                self.finish()
        except OSError:
            self.close()

    def finish(self):
        """Ends our side and reads all that is still answered, so that nothing is lost in a reset."""
        self.client.socket.shutdown(1)
        while self.client.socket.recv(65536):
            pass
        self.close()

    def close(self):
        if self.client is not None:
            self.client.close()
        self.client = None


@pytest.mark.parametrize("protocol", wire.ALL)
def test_malformed_messages_leave_memory_and_descriptors_flat(leat, protocol):
    agent = leat(config(), log_level="info")
    attackers = [Attacker(agent.port("apps"), protocol, f"{protocol} {n}") for n in range(4)]
    n_messages = N_MESSAGES // len(wire.ALL)

    def attack(n):
        for i in range(n):
            attackers[i % len(attackers)].attack()

    attack(n_messages // 3)  # until all that is kept for the next time is there
    memory, descriptors = agent.status_kb("RssAnon"), agent.n_descriptors()
    attack(n_messages - n_messages // 3)

    with Raw(agent.port("apps"), protocol) as client:
        assert client.is_usable()
    for attacker in attackers:
        attacker.close()
    wait_until(lambda: open_connections(agent) == 0, "all attackers are gone")
    assert_grew_at_most(agent, 1024, memory)
    assert agent.n_descriptors() <= descriptors + 2
    received = agent.metric("leat_source_events_received_total")
    assert received == agent.metric("leat_source_events_accepted_total")
