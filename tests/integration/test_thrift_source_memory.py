"""test_thrift_source_memory.py - clients that hold receive memory and do not use it cost the others a second, not a timeout."""
import select
import struct
import threading
import time

import wire
from leat import BUSY, wait_until
from thrift_agent import config, incidents
from wire import Raw

FRAME = 16_000_000  # 15 of them fill what large requests may have of 256 MiB
PROMISE = struct.pack("!i", FRAME) + b"\x82\x21\x01\x0bappendBatch"
BATCH = wire.append_batch("compact", [bytes(10_000)] * 1500)


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

    assert max(taken) < 2 + BUSY, f"large batches took {taken} s"
    assert max(longest) < 1, f"a single append took {max(longest):.2f} s"
    assert incidents(agent, "slow-frame") >= 4  # whose memory the others needed; the rest has its time
    wait_until(lambda: n_closed(stalled) == incidents(agent, "slow-frame"), "those are closed")
    assert "others waited" in agent.wait_for_log("connection closed")["detail"]
    close_all(stalled)


def test_a_crowd_of_stalled_clients_in_line_is_ended_at_once(leat):
    agent = leat(config())
    stalled = reserved_by_stalled(agent, 150)  # ten times what fits: nine waves that wait behind the first

    [taken] = in_threads(1, lambda: send_batches(agent, 1))

    assert taken < 2 + BUSY
    assert incidents(agent, "slow-frame") >= 135
    close_all(stalled)


def test_clients_that_fall_silent_in_mid_frame_make_room_for_others(leat):
    agent = leat(config())
    stalled = reserved_by_stalled(agent, 15, PROMISE + bytes(12_000_000))

    [taken] = in_threads(1, lambda: send_batches(agent, 1))

    assert taken < 2 + BUSY
    assert incidents(agent, "slow-frame") >= 1
    close_all(stalled)


def test_a_slow_client_that_keeps_pace_is_not_ended_while_others_wait(leat):
    agent = leat(config(source={"receive-memory": "1MB", "max-frame": "900000", "frame-timeout": "6s"}))
    large = wire.frame(wire.append("compact", bytes(800_000)))

    with Raw(agent.port("apps")) as slow, Raw(agent.port("apps")) as waiting:
        slow.send(large[:1000])
        sender = threading.Thread(target=waiting.send, args=[large])
        sender.start()
        for at in range(1000, len(large), 80_000):  # over 2.5 s, more than twice as fast as it must be
            time.sleep(0.25)
            slow.send(large[at:at + 80_000])
        assert slow.read_answer().status == wire.OK
        assert waiting.read_answer().status == wire.OK
        sender.join()

    assert incidents(agent, "slow-frame") == 0


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
