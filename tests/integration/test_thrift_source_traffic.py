"""test_thrift_source_traffic.py - requests that come fast, slow, in pieces, too many at once, or not at all."""
import contextlib
import queue
import random
import socket
import struct
import threading
import time

import pytest

import wire
from leat import BUSY, wait_until
from thrift_agent import LOGGER, assert_grew_at_most, config, incidents, open_connections
from wire import Raw

KB = 1024
protocols = pytest.mark.parametrize("protocol", wire.ALL)


# ---- pipelining ----

def mixed_request(protocol, seqid, kind):
    """A request and what must be answered: (status, exception), or None for no answer."""
    if kind == "append":
        return wire.append(protocol, b"a%d" % seqid, seqid=seqid), (wire.OK, None)
    if kind == "batch":
        return wire.append_batch(protocol, [b"b" * 100] * 50, seqid=seqid), (wire.OK, None)
    if kind == "large":
        return wire.append_batch(protocol, [b"c" * 1000] * 100, seqid=seqid), (wire.OK, None)
    if kind == "empty":
        return wire.append_batch(protocol, [], seqid=seqid), (wire.OK, None)
    if kind == "unknown":
        return wire.message(protocol, "other", seqid=seqid), (None, wire.UNKNOWN_METHOD)
    if kind == "incomplete":
        return wire.message(protocol, "append", seqid=seqid), (None, wire.PROTOCOL_ERROR)
    return wire.append(protocol, b"o", seqid=seqid, kind=wire.ONEWAY), None


KINDS = ["append", "batch", "large", "empty", "unknown", "incomplete", "oneway"]


@protocols
def test_200_pipelined_requests_of_every_kind_are_answered_in_order(leat, protocol):
    agent = leat(config(channel={"capacity": 5000, "put-timeout": "15s"}))
    dice = random.Random(protocol)
    requests = [mixed_request(protocol, seqid, dice.choice(KINDS)) for seqid in range(200)]

    with Raw(agent.port("apps"), protocol) as client:
        sender = threading.Thread(target=client.send, args=[b"".join(wire.frame(data) for data, _ in requests)])
        sender.start()
        for seqid, (_, expected) in enumerate(requests):
            if expected is not None:
                answer = client.read_answer()
                assert (answer.seqid, (answer.status, answer.exception)) == (seqid, expected)
        sender.join()
        assert client.is_usable()


def test_requests_that_wait_for_room_do_not_hold_up_another_connection(leat):
    agent = leat(config(channel={"capacity": 10, "put-timeout": "3s"}, sink={"refuse": True},
                        source={"threads": 1}, agent={"shutdown-timeout": "500ms"}))

    with Raw(agent.port("apps")) as waiting, Raw(agent.port("apps")) as other:
        assert waiting.call(wire.append_batch("compact", [b"x"] * 10)).status == wire.OK
        for seqid in range(100):  # more than are taken on at once
            waiting.send_frame(wire.append("compact", b"x", seqid=seqid))
        assert other.call(wire.append_batch("compact", [])).status == wire.OK
        assert agent.metric("leat_source_events_refused_total") == 0, "it was answered only after those that wait"
        answers = [waiting.read_answer() for _ in range(100)]

    assert [(answer.seqid, answer.status) for answer in answers] == [(n, wire.FAILED) for n in range(100)]


def seen_by_one_that_goes_on(port):
    """The answer to a request that cannot be trusted, and what comes behind it, although a megabyte is sent behind the request."""
    with Raw(port) as client:
        client.send_frame(wire.append("compact", b"x") + b"!")
        for _ in range(20):
            client.send(bytes(50_000))
            time.sleep(0.005)
        answer = client.read_answer()
        return answer and answer.exception, client.socket.recv(1)  # which raises ConnectionResetError if that is what came


def test_the_last_answer_is_not_lost_in_a_reset_although_the_client_goes_on_sending(leat):
    agent = leat(config())

    for _ in range(10):
        begin = time.monotonic()
        with contextlib.suppress(ConnectionError):
            if seen_by_one_that_goes_on(agent.port("apps")) == (wire.PROTOCOL_ERROR, b""):
                return
        assert time.monotonic() - begin > 0.8  # so late the agent has stopped listening; it may
    raise AssertionError("the machine was too busy again and again")


def test_a_client_that_has_said_all_still_gets_its_answers(leat):
    agent = leat(config())

    with Raw(agent.port("apps")) as client:
        for seqid in range(100):
            client.send_frame(wire.append("compact", b"x", seqid=seqid))
        client.socket.shutdown(socket.SHUT_WR)
        answers = [client.read_answer() for _ in range(100)]
        assert client.is_closed()

    assert [answer.seqid for answer in answers] == list(range(100))


def test_the_protocol_is_told_for_each_connection_and_must_not_change(leat):
    agent = leat(config())

    with Raw(agent.port("apps"), "compact") as one, Raw(agent.port("apps"), "binary") as another:
        assert one.is_usable() and another.is_usable()
        one.send_frame(wire.append("binary", b"x"))
        assert one.is_closed()
        assert another.is_usable()

    assert incidents(agent, "bad-header") == 1


# ---- in pieces ----

@protocols
def test_a_frame_sent_one_byte_at_a_time_is_taken(leat, protocol):
    agent = leat(config(sink=LOGGER))

    with Raw(agent.port("apps"), protocol) as client:
        for byte in wire.frame(wire.append(protocol, b"in pieces", {"k": "v"})):
            client.send(bytes([byte]))
            time.sleep(0.0002)  # so that each arrives alone
        assert client.read_answer().status == wire.OK

    assert agent.wait_for_log("event")["body"] == "in pieces"


@pytest.mark.parametrize("seed", range(3))
def test_frames_cut_anywhere_are_put_together_again(leat, seed):
    agent = leat(config())
    dice = random.Random(seed)
    requests = [wire.append_batch("compact", [bytes(dice.randrange(2000))] * dice.randrange(1, 200), seqid=n)
                for n in range(60)]
    data = b"".join(wire.frame(request) for request in requests)

    def send(client):
        at = 0
        while at < len(data):
            n = dice.choice([1, 3, 4, 5, 1000, 70000, 300000])
            client.send(data[at:at + n])
            at += n

    with Raw(agent.port("apps")) as client:
        sender = threading.Thread(target=send, args=[client])
        sender.start()
        for seqid in range(60):
            answer = client.read_answer()
            assert (answer.seqid, answer.status) == (seqid, wire.OK)
        sender.join()


def test_a_frame_of_16_mb_in_small_pieces_costs_no_more_than_its_bytes(leat):
    agent = leat(config())
    payload = wire.frame(wire.append("compact", bytes(16_000_000)))

    with Raw(agent.port("apps")) as client:
        begin = agent.cpu_used()
        for at in range(0, len(payload), 4096):
            client.send(payload[at:at + 4096])
        assert client.read_answer().status == wire.OK

    assert agent.cpu_used() - begin < 2  # to move what is there for each piece would be 30 GB


def test_clients_that_vanish_in_the_middle_of_a_frame_leave_nothing_behind(leat):
    agent = leat(config())
    whole = wire.frame(wire.append_batch("compact", [bytes(1000)] * 100))
    descriptors = agent.n_descriptors()

    for n in range(300):
        client = Raw(agent.port("apps"))
        client.send(whole[:(n * 331) % len(whole)])
        if n % 3 == 0:  # reset instead of a proper end
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()

    wait_until(lambda: open_connections(agent) == 0, "all connections are gone")
    assert agent.n_descriptors() <= descriptors + 2
    with Raw(agent.port("apps")) as client:
        assert client.is_usable()


# ---- time ----

def test_a_frame_that_does_not_come_in_time_ends_its_connection_while_others_go_on(leat):
    agent = leat(config(source={"frame-timeout": "300ms", "threads": 1}))
    whole = wire.frame(wire.append("compact", bytes(100000)))

    with Raw(agent.port("apps")) as slow, Raw(agent.port("apps")) as slower, Raw(agent.port("apps")) as idle:
        slow.send(whole[:50000])
        slower.send(whole[:2])
        begin = time.monotonic()
        while time.monotonic() - begin < 0.25:  # the frame-timeout, nearly
            with Raw(agent.port("apps")) as other:
                assert other.is_usable()
        assert slow.is_closed() and slower.is_closed()
        assert 0.25 < time.monotonic() - begin < 1 + BUSY
        assert idle.is_usable()

    assert incidents(agent, "slow-frame") == 2
    assert "frame-timeout" in agent.wait_for_log("connection closed")["detail"]


def test_a_connection_on_which_nothing_happens_is_closed_after_idle_timeout(leat):
    agent = leat(config(source={"idle-timeout": "3s"}))

    with Raw(agent.port("apps")) as idle, Raw(agent.port("apps")) as busy:
        begin = time.monotonic()
        while time.monotonic() - begin < 3.5:
            assert busy.is_usable()
            time.sleep(0.02)
        assert idle.is_closed()
        assert busy.is_usable()

    assert incidents(agent, "idle") == 1


def test_the_longest_times_that_can_be_written_do_not_end_connections(leat):
    longest = "9223372036854775807us"
    agent = leat(config(source={"idle-timeout": longest, "frame-timeout": longest}))

    with Raw(agent.port("apps")) as client:
        whole = wire.frame(wire.append("compact", b"in two pieces"))
        client.send(whole[:10])
        wait_until(lambda: open_connections(agent) == 1, "the first piece is there")
        client.send(whole[10:])
        assert client.read_answer().status == wire.OK
        assert client.is_usable()


def test_time_that_a_request_took_is_not_idle_time(leat):
    agent = leat(config(source={"idle-timeout": "2500ms"}, channel={"capacity": 1, "put-timeout": "3s"},
                        sink={"refuse": True}, agent={"shutdown-timeout": "300ms"}))

    with Raw(agent.port("apps")) as client:
        assert client.call(wire.append("compact", b"fits")).status == wire.OK
        assert client.call(wire.append("compact", b"waits")).status == wire.FAILED
        time.sleep(0.05)
        assert client.call(wire.append_batch("compact", [])).status == wire.OK


def test_a_client_that_does_not_read_its_answers_is_not_read_from_and_ends(leat):
    agent = leat(config(source={"frame-timeout": "500ms"}))
    request = wire.frame(wire.message("compact", "x" * 60, seqid=1))

    with Raw(agent.port("apps")) as deaf, Raw(agent.port("apps")) as other:
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.socket.settimeout(1)
        memory = agent.status_kb("RssAnon")
        with pytest.raises(OSError):
            while True:
                deaf.send(request * 1000)
        assert other.is_usable()
        # What it had sent last may be half a frame, which then is what takes too long.
        wait_until(lambda: incidents(agent, "not-reading") + incidents(agent, "slow-frame") == 1,
                   "the deaf one is gone")
        assert_grew_at_most(agent, 4 * KB, memory)


# ---- memory ----

def answers_to_large_frames(agent, count):
    """Sends so many at once, with a rest before the last byte of each, and has them use little memory. Returns the answers, and
    the longest of these rests."""
    clients = [Raw(agent.port("apps")) for _ in range(count)]
    payload = wire.frame(wire.append_batch("compact", [bytes(1000)] * 1900))
    nearly = queue.SimpleQueue()  # clients that have sent all but the last byte, and when
    memory = agent.status_kb("RssAnon")
    longest = 0

    def send(client):
        with contextlib.suppress(OSError):
            client.send(payload[:-1])
        nearly.put((client, time.monotonic()))

    senders = [threading.Thread(target=send, args=[client]) for client in clients]
    for sender in senders:
        sender.start()
    time.sleep(0.2)  # much of it could have come by now; a second later those in front are given up
    assert_grew_at_most(agent, 6 * KB, memory)
    for _ in clients:
        client, since = nearly.get()
        longest = max(longest, time.monotonic() - since)
        with contextlib.suppress(OSError):
            client.send(payload[-1:])
    answers = [client.read_answer() for client in clients]
    for client, sender in zip(clients, senders):
        sender.join()
        client.close()
    return answers, longest


def test_twenty_large_frames_share_little_memory_and_all_are_taken(leat):
    agent = leat(config(source={"receive-memory": "4MiB", "max-frame": "2000000"}))

    for _ in range(5):
        answers, longest_rest = answers_to_large_frames(agent, 20)
        if longest_rest < 0.7:  # else this process was held up, and some have been given up with good reason
            break

    assert [answer and answer.status for answer in answers] == [wire.OK] * 20


def test_batches_that_interceptors_make_larger_wait_in_little_memory(leat):
    agent = leat(config(source={"receive-memory": "8MiB", "max-frame": "3MiB",
                                "interceptors": [{"type": "static", "value": "v" * 500}]},
                        channel={"capacity": 15000, "put-timeout": "2s"}, sink={"refuse": True}))
    batch = wire.append_batch("compact", [b""] * 10000)  # 50 kB, and 5 MB behind the interceptor
    clients = [Raw(agent.port("apps")) for _ in range(20)]
    memory = agent.status_kb("RssAnon")

    for client in clients:
        client.send_frame(batch)
    wait_until(lambda: agent.metric("leat_source_events_refused_total") >= 180000, "one waits, the others are refused")
    assert_grew_at_most(agent, 40 * KB, memory)

    assert sorted(client.read_answer().status for client in clients) == [wire.OK] + [wire.FAILED] * 19
    for client in clients:
        client.close()


def test_a_frame_that_waits_for_memory_is_not_called_slow(leat):
    agent = leat(config(source={"receive-memory": "1MB", "max-frame": "900000", "frame-timeout": "2s"},
                        channel={"capacity": 1, "put-timeout": "2500ms"}, sink={"refuse": True},
                        agent={"shutdown-timeout": "300ms"}))
    large = wire.append("compact", bytes(800000))

    with Raw(agent.port("apps")) as holder, Raw(agent.port("apps")) as waiting:
        assert holder.call(wire.append("compact", b"fits")).status == wire.OK
        holder.send_frame(large)
        wait_until(lambda: agent.metric("leat_source_events_received_total") == 2, "it waits for room in the channel")
        sender = threading.Thread(target=waiting.send_frame, args=[large])
        sender.start()
        assert holder.read_answer().status == wire.FAILED
        assert waiting.read_answer().status == wire.FAILED
        sender.join()

    assert incidents(agent, "slow-frame") == 0


def test_one_that_has_memory_and_does_not_use_it_makes_room_for_the_next(leat):
    agent = leat(config(source={"receive-memory": "1MB", "max-frame": "900000", "frame-timeout": "1s"}))
    large = wire.frame(wire.append("compact", bytes(800000)))

    with Raw(agent.port("apps")) as holder, Raw(agent.port("apps")) as waiting:
        holder.send(large[:1000])
        time.sleep(0.1)  # it has its reservation, and keeps it until it is closed
        sender = threading.Thread(target=waiting.send, args=[large])
        sender.start()
        assert holder.is_closed()
        assert waiting.read_answer().status == wire.OK
        sender.join()

    assert incidents(agent, "slow-frame") == 1


def test_one_frame_may_be_as_large_as_all_receive_memory(leat):
    agent = leat(config(source={"receive-memory": "1000000", "max-frame": "1000000"}))
    overhead = len(wire.append("binary", b""))

    with Raw(agent.port("apps"), "binary") as client, Raw(agent.port("apps"), "binary") as other:
        for _ in range(3):
            assert client.call(wire.append("binary", bytes(1000000 - overhead))).status == wire.OK
            assert other.call(wire.append("binary", bytes(1000000 - overhead))).status == wire.OK


def test_small_requests_pass_however_little_memory_there_is(leat):
    agent = leat(config(source={"receive-memory": "20kB", "max-frame": "20kB"}))

    with Raw(agent.port("apps")) as client:
        sender = threading.Thread(target=client.send, args=[
            b"".join(wire.frame(wire.append("compact", b"x" * 300, seqid=n)) for n in range(1000))])
        sender.start()
        assert [client.read_answer().seqid for n in range(1000)] == list(range(1000))
        sender.join()


# ---- fairness ----

def test_a_flood_on_one_connection_does_not_starve_another(leat):
    agent = leat(config(source={"threads": 1}))
    payload = wire.frame(wire.append_batch("compact", [bytes(300_000)] * 50, kind=wire.ONEWAY))
    stop = threading.Event()

    def flood(client):
        while not stop.is_set():
            client.send(payload)

    with Raw(agent.port("apps")) as busy, Raw(agent.port("apps")) as other:
        flooder = threading.Thread(target=flood, args=[busy])
        flooder.start()
        begin = time.monotonic()
        for _ in range(50):
            assert other.is_usable()
        taken = time.monotonic() - begin
        stop.set()
        flooder.join()

    print(f"50 calls beside a flood took {taken:.2f} s")
    assert taken < 20  # starved, it would not end while the flood goes on
