"""test_thrift_source_memory.py - memory that stalled clients hold, that the system does not have, that interceptors want."""
import contextlib
import resource
import select
import struct
import threading
import time

import pytest

import wire
from leat import BUSY, has_address_sanitizer, wait_until
from thrift_agent import LOGGER, config, incidents
from wire import Raw

FRAME = 16_000_000  # 15 of them fill what large requests may have of 256 MiB
PROMISE = struct.pack("!i", FRAME) + b"\x82\x21\x01\x0bappendBatch"
HELD_UP = 15  # seconds; what stalls for as long as it may would take twice as long
BATCH = wire.append_batch("compact", [bytes(10_000)] * 1500)


# ---- held by others ----

def reserved_by_stalled(agent, count, sent=PROMISE):
    clients = [Raw(agent.port("apps")) for _ in range(count)]
    for client in clients:
        client.send(sent)
    return clients


def n_closed(clients):
    readable, _, _ = select.select([client.socket for client in clients], [], [], 0)
    return len(readable)


def close_all(clients):
    for client in clients:
        client.close()


def in_threads(count, work):
    """The seconds that each took."""
    taken = [None] * count

    def run(n):
        begin = time.monotonic()
        work()
        taken[n] = time.monotonic() - begin

    threads = [threading.Thread(target=run, args=[n]) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def send_batches(agent, count):
    with Raw(agent.port("apps")) as client:
        for _ in range(count):
            assert client.call(BATCH).status == wire.OK


def append_many(agent, count, longest):
    with Raw(agent.port("apps")) as client:
        for _ in range(count):
            begin = time.monotonic()
            assert client.is_usable()
            longest.append(time.monotonic() - begin)


def test_stalled_clients_that_hold_all_memory_are_ended_and_the_others_go_on(leat):
    agent = leat(config())
    stalled = reserved_by_stalled(agent, 18)
    longest = []
    small = threading.Thread(target=append_many, args=[agent, 300, longest])
    small.start()

    taken = in_threads(4, lambda: send_batches(agent, 3))
    small.join()

    assert max(taken) < HELD_UP, f"large batches took {taken} s"
    assert max(longest) < BUSY, f"a single append took {max(longest):.2f} s"
    assert incidents(agent, "slow-frame") >= 4  # whose memory the others needed; the rest has its time
    wait_until(lambda: n_closed(stalled) == incidents(agent, "slow-frame"), "those are closed")
    assert "others waited" in agent.wait_for_log("connection closed")["detail"]
    close_all(stalled)


def test_a_crowd_of_stalled_clients_in_line_is_ended_at_once(leat):
    agent = leat(config())
    stalled = reserved_by_stalled(agent, 150)  # ten times what fits: nine waves that wait behind the first

    [taken] = in_threads(1, lambda: send_batches(agent, 1))

    assert taken < HELD_UP
    assert incidents(agent, "slow-frame") >= 135
    close_all(stalled)


def test_clients_that_fall_silent_in_mid_frame_make_room_for_others(leat):
    agent = leat(config())
    stalled = reserved_by_stalled(agent, 15, PROMISE + bytes(12_000_000))

    [taken] = in_threads(1, lambda: send_batches(agent, 1))

    assert taken < HELD_UP
    assert incidents(agent, "slow-frame") >= 1
    close_all(stalled)


def send_slowly_while_another_waits(agent):
    """Returns the longest time in which the slow one sent nothing."""
    large = wire.frame(wire.append("compact", bytes(800_000)))
    longest = 0

    with Raw(agent.port("apps")) as slow, Raw(agent.port("apps")) as waiting, contextlib.suppress(OSError):
        slow.send(large[:1000])
        sender = threading.Thread(target=waiting.send, args=[large])
        sender.start()
        for at in range(1000, len(large), 80_000):  # over 2.5 s, six times as fast as it must be
            begin = time.monotonic()
            time.sleep(0.25)
            longest = max(longest, time.monotonic() - begin)
            slow.send(large[at:at + 80_000])
        slow.read_answer()
        waiting.read_answer()
        sender.join()
    return longest


def test_a_slow_client_that_keeps_pace_is_not_ended_while_others_wait(leat):
    for _ in range(5):
        agent = leat(config(source={"receive-memory": "1MB", "max-frame": "900000", "frame-timeout": "15s"}))
        longest_rest = send_slowly_while_another_waits(agent)
        if longest_rest < 0.8:  # else this process was held up for so long that it kept no pace
            break

    assert incidents(agent, "slow-frame") == 0
    assert agent.metric("leat_source_events_accepted_total") == 2


def test_a_client_that_stalls_is_left_alone_while_nobody_waits(leat):
    agent = leat(config())
    large = wire.frame(wire.append("compact", bytes(800_000)))

    with Raw(agent.port("apps")) as client:
        client.send(large[:1000])
        time.sleep(1.5)
        client.send(large[1000:])
        assert client.read_answer().status == wire.OK


def test_small_requests_do_not_queue_behind_large_ones(leat):
    agent = leat(config(source={"receive-memory": "1MB", "max-frame": "900000"},
                        channel={"byte-capacity": "1MB", "put-timeout": "10s"}, sink={"refuse": True},
                        agent={"shutdown-timeout": "300ms"}))
    large = wire.frame(wire.append("compact", bytes(800_000)))

    with Raw(agent.port("apps")) as holder, Raw(agent.port("apps")) as waiting, Raw(agent.port("apps")) as small:
        holder.send(large)
        assert holder.read_answer().status == wire.OK
        holder.send(large)
        wait_until(lambda: agent.metric("leat_source_events_received_total") == 2, "it waits for room in the channel")
        waiting.send(large[:50_000])
        begin = time.monotonic()
        small.send_frame(wire.append("compact", bytes(30_000)))
        wait_until(lambda: agent.metric("leat_source_events_received_total") == 3, "the small one is received")
        assert time.monotonic() - begin < BUSY, "it waited behind the large one"


# ---- not there ----

without_sanitizer = pytest.mark.skipif(has_address_sanitizer(), reason="a sanitizer maps more than any limit")


def settled_kb(agent, field):
    """A thread that is just preparing its memory has twice as much for a moment."""
    before, now = None, agent.status_kb(field)
    while now != before:
        time.sleep(0.05)
        before, now = now, agent.status_kb(field)
    return now


def agent_with_little_memory(leat, n_bytes, **source):
    """Once it has served a request it may have so much more address space, and no more."""
    agent = leat(config(source={"threads": 1, "max-frame": "200MB", **source}))
    with Raw(agent.port("apps")) as client:
        assert client.is_usable()
    wait_until(lambda: agent.metric("leat_sink_events_delivered_total") == 1, "each thread has worked")
    limit = settled_kb(agent, "VmSize") * 1024 + n_bytes
    resource.prlimit(agent.process.pid, resource.RLIMIT_AS, (limit, limit))
    return agent


def batch_of(protocol, body, count):
    """So many events of one body, made in no time."""
    events = wire.list_of(protocol, "struct", [wire.raw_event(protocol, body=body) * count], count=count)
    return wire.message(protocol, "appendBatch", wire.field(protocol, 1, "list", events) + wire.STOP)


@without_sanitizer
def test_a_frame_for_which_there_is_no_memory_ends_its_connection_alone(leat):
    agent = agent_with_little_memory(leat, 60_000_000)

    with Raw(agent.port("apps")) as other:
        for _ in range(3):
            with Raw(agent.port("apps")) as client:
                client.send(struct.pack("!i", 100_000_000) + b"\x82\x21\x01\x0bappendBatch")
                assert client.is_closed()
            assert other.is_usable()

    assert incidents(agent, "no-memory") == 3
    assert "MemoryMax=" in agent.wait_for_log("out of resources")["detail"]


@without_sanitizer
@pytest.mark.parametrize("protocol", ["compact", "binary"])
def test_a_frame_that_leaves_no_memory_for_its_events_ends_its_connection_alone(leat, protocol):
    agent = agent_with_little_memory(leat, 30_000_000)
    count = 17_000_000 // len(wire.raw_event(protocol, body=b""))  # they are written anew, in as much memory again

    with Raw(agent.port("apps"), protocol) as client, Raw(agent.port("apps"), protocol) as other:
        client.send_frame(batch_of(protocol, b"", count))
        assert client.is_closed()
        assert other.is_usable()

    assert incidents(agent, "no-memory") == 1


@without_sanitizer
def test_what_interceptors_make_of_a_batch_without_memory_for_it_is_answered_failed(leat):
    agent = agent_with_little_memory(leat, 15_000_000, interceptors=[{"type": "static", "value": "v" * 1000}])

    with Raw(agent.port("apps")) as client:
        assert client.call(batch_of("compact", b"", 100_000)).status == wire.FAILED
        assert client.is_usable()

    assert "no memory for what the interceptors make" in agent.wait_for_log("request refused")["detail"]
    assert agent.metric("leat_source_events_accepted_total") == 2


# ---- grown by interceptors ----

STATIC = {"type": "static", "value": "v" * 1000}
REPLACE = {"type": "search-replace", "search-pattern": "x", "replace-string": "y" * 1000}


@pytest.mark.parametrize("interceptor, length, count", [
    pytest.param(STATIC, 0, 600_000, id="static"),  # 600 MB, if it were let
    pytest.param(REPLACE, 1, 400_000, id="many-bodies"),
    pytest.param(REPLACE, 3_000_000, 1, id="one-body"),
])
def test_a_request_that_interceptors_make_too_large_is_refused_and_takes_little_memory(
        leat, interceptor, length, count):
    agent = leat(config(source={"max-frame": "5MB", "interceptors": [interceptor]}, sink=LOGGER))
    memory = agent.status_kb("VmRSS")

    with Raw(agent.port("apps")) as client:
        assert client.call(batch_of("compact", b"x" * length, count)).status == wire.FAILED
        assert client.call(batch_of("compact", b"x", 7)).status == wire.OK

    assert "larger than 9.5 MiB, twice max-frame" in agent.wait_for_log("request refused")["detail"]
    wait_until(lambda: agent.metric("leat_sink_events_delivered_total") == 7, "nothing of it is delivered, but the next")
    peak = agent.status_kb("VmHWM")
    print(f"it grew from {memory} kB to {peak} kB")
    assert has_address_sanitizer() or peak - memory < 40_000
