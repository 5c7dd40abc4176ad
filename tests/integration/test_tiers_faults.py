"""test_tiers_faults.py - one of two collectors is killed, frozen or cut off under load, both go away, sinks fail over: nothing that
was acknowledged is lost, and only what was on its way comes twice.

One fault a story in `make check`; one after the other with LEAT_SOAK=1 in the environment.
"""
import os
import statistics
import subprocess
import time

import pytest

from cut_link import CutLink, VanishingLink
from leat import wait_until
from tiers import Pulse, assert_whole, edge, longest_gap, wait_for_more

RATE = 2000  # events a second
BATCH = 50
TIMEOUT = 1.0  # seconds, of a request and of a connect
LATE = 1.8  # seconds; who was waited for once took less, and who was waited for twice more
N_ROUNDS, N_CONNECTS = (20, 10_000) if os.environ.get("LEAT_SOAK") else (1, 100)


def two_hosts(client, addresses, count=0, **sink):
    return edge(addresses, {"rate": RATE, "count": count},
                {"client": client, "batch-size": BATCH, "request-timeout": f"{int(TIMEOUT * 1000)}ms",
                 "connect-timeout": f"{int(TIMEOUT * 1000)}ms", "max-host-backoff": "300ms", **sink})


# ---- one of two, under load ----

class Killed:
    """SIGKILL: the system says at once that nobody is there."""

    def __init__(self, far_end):
        self.end = far_end("a")
        self.address = self.end.address

    def strike(self):
        self.end.kill()

    def heal(self):
        self.end.start()

    def close(self):
        pass


class Frozen(Killed):
    """SIGSTOP: the system accepts connections and bytes, and no answer comes."""

    def strike(self):
        self.end.freeze()

    def heal(self):
        self.end.thaw()


class CutOff(Killed):
    """A proxy in between stops reading and forwarding."""

    def __init__(self, far_end):
        super().__init__(far_end)
        self.link = CutLink(self.end.port)
        self.address = self.link.address

    def strike(self):
        self.link.cut()

    def heal(self):
        self.link.mend()

    def close(self):
        self.link.close()


class Vanished(CutOff):
    """Packets of established connections vanish, and those of attempts to connect."""

    def __init__(self, far_end):  # pylint: disable=super-init-not-called
        self.link = VanishingLink()
        self.end = far_end("a", host=self.link.host, prefix=self.link.prefix)
        self.address = self.end.address


@pytest.fixture
def victim(far_end, request):
    made = request.param(far_end)
    yield made
    made.close()


@pytest.mark.parametrize("client, in_flight", [("failover", 1), ("load-balance", 4)])
@pytest.mark.parametrize("victim", [Killed, Frozen, CutOff, Vanished], indirect=True, ids=lambda kind: kind.__name__.lower())
def test_the_other_of_two_collectors_takes_over_and_nothing_is_lost(far_end, leat, victim, client, in_flight):
    first, second = victim.end, far_end("b")
    pulse = Pulse(leat, far_end("pulse"))
    agent = leat(two_hosts(client, [victim.address, second.address], **{"in-flight": in_flight}))
    pauses = []

    first.wait_for(RATE // 8)
    begin = first.times[0]
    while len(pauses) < N_ROUNDS or (statistics.median_low(pauses) > LATE and len(pauses) < N_ROUNDS + 3):
        since = time.monotonic()
        victim.strike()
        wait_for_more([second], RATE // 2)
        victim.heal()
        if client == "failover":  # which has no reason to go back
            second.kill()
        wait_for_more([first], RATE // 4)
        if client == "failover":
            second.start()
        pauses.append(longest_gap(first.times + second.times, since))
    agent.stop()

    assert agent.wait_for_log("stopped")["events_lost"] == 0
    n_again = assert_whole(first.bodies + second.bodies)
    print(f"{len(first.bodies)} and {len(second.bodies)} events, {n_again} came again; the longest pauses were {pauses} s, "
          f"that of the machine {pulse.longest_gap(begin):.3f} s")
    # A process that was held up by the machine is so once, and what takes too long by itself is so each time.
    assert statistics.median_low(pauses) < LATE or pulse.missed(begin)
    n_faults = (2 if client == "failover" else 1) * len(pauses)
    assert n_again <= n_faults * in_flight * BATCH or max(pauses) > LATE or pulse.missed(begin)


def test_a_host_that_is_back_gets_its_share_again(far_end, leat):
    ends = [far_end("a"), far_end("b", start=False)]
    agent = leat(two_hosts("load-balance", [end.address for end in ends], **{"request-timeout": "1m"}))

    ends[0].wait_for(RATE // 2)
    ends[1].start()
    ends[1].wait_for(1)
    before = [len(end.bodies) for end in ends]
    wait_for_more(ends, RATE)
    shares = [len(end.bodies) - n for end, n in zip(ends, before)]

    agent.wait_for_log("recovered", peer=ends[1].address)
    assert min(shares) > 0.3 * max(shares), shares


# ---- all of them ----

def test_all_hosts_down_and_up_again(far_end, leat):
    ends = [far_end("a"), far_end("b")]
    agent = leat(two_hosts("load-balance", [end.address for end in ends]))

    wait_for_more(ends, RATE // 4)
    for n in range(N_ROUNDS):
        for end in ends:
            end.kill()
        wait_until(lambda: len(agent.log("delivery failed, backing off")) > n, "no host is left")
        for end in ends:
            end.start()
        wait_for_more(ends, RATE // 4)
    agent.stop()

    assert_whole(ends[0].bodies + ends[1].bodies)
    assert len(agent.log("destination recovered")) >= N_ROUNDS


def test_descriptors_and_connections_are_back_after_an_outage(far_end, leat):
    end = far_end("a")
    agent = leat(two_hosts("single", [end.address], backoff="1ms", **{"max-backoff": "1ms"}))

    end.wait_for(100)
    before = agent.n_descriptors()
    end.kill()
    wait_until(lambda: agent.metric("leat_sink_connections_failed_total") >= N_CONNECTS, "it has tried in vain", 300)
    end.start()
    end.wait_for(len(end.bodies) + 100)

    wait_until(lambda: agent.n_descriptors() <= before, "there are as many descriptors as before")


def test_a_name_with_a_dead_and_a_live_address_is_reached_whichever_it_is(far_end, leat, tmp_path):
    names = tmp_path / "hosts"
    names.write_text("127.0.0.1 localhost\n127.0.0.1 twofold\n127.0.0.2 twofold\n")
    prefix = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
              f'mount --bind {names} /etc/hosts && exec "$@"', "sh"]
    if subprocess.run([*prefix, "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("a name with two addresses was not looked up: that needs a mount namespace")
    ends = [far_end("a", host="127.0.0.1")]
    leat(two_hosts("single", [f"twofold:{ends[0].port}"]), prefix=prefix)

    ends[0].wait_for(100)
    ends[0].kill()
    ends.append(far_end("b", host="127.0.0.2", port=ends[0].port))
    ends[1].wait_for(100)
    ends[1].kill()
    ends[0].start()
    wait_for_more(ends[:1], 100)


# ---- sinks in a group ----

def group(ends, processor, options=None):
    """A Thrift sink for each end, in one group."""
    config = edge([ends[0].address], {"rate": RATE})
    sink = config["sinks"].pop("out")
    for name, end in zip("abcdefgh", ends):
        config["sinks"][name] = {**sink, "hosts": [end.address], "batch-size": BATCH, "request-timeout": "1s"}
    config["sink-groups"] = {"g": {"processor": processor, "sinks": list(config["sinks"]), "max-penalty": "200ms",
                                   **(options or {})}}
    return config


def test_a_sink_group_fails_over_and_back(far_end, leat):
    ends = [far_end("a"), far_end("b")]
    config = group(ends, "failover", {"priorities": {"a": 1, "b": 2}})
    for sink in config["sinks"].values():
        sink["request-timeout"] = "1m"  # what is killed is known at once
    agent = leat(config)

    ends[1].wait_for(RATE // 4)
    assert ends[0].bodies == []
    ends[1].kill()
    ends[0].wait_for(RATE // 4)
    ends[1].start()
    wait_until(lambda: agent.metric("leat_sink_group_takeovers_total", component="g") == 2, "it has failed back")
    n_before = len(ends[0].bodies)
    wait_for_more(ends[1:], RATE // 4)

    assert len(ends[0].bodies) <= n_before + BATCH
    agent.wait_for_log("another sink of the group takes over", group="g", sink="b")
    agent.stop()
    assert_whole(ends[0].bodies + ends[1].bodies)


def test_a_frozen_member_does_not_stall_its_group(far_end, leat):
    ends = [far_end("a"), far_end("b"), far_end("c")]
    pulse = Pulse(leat, far_end("pulse"))
    agent = leat(group(ends, "load-balance"))

    wait_until(lambda: all(len(end.bodies) > BATCH for end in ends), "each has its share")
    ends[0].freeze()
    begin = ends[1].times[-1]
    wait_for_more(ends[1:], 3 * RATE // 2)
    gap = longest_gap(ends[1].times + ends[2].times, begin)
    ends[0].thaw()

    assert gap < 0.9 or pulse.missed(begin)  # less than its request-timeout
    assert agent.request("/healthz").status == 200
