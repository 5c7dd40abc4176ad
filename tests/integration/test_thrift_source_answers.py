"""test_thrift_source_answers.py - what comes in, and what the client is told: every row of the contract."""
import collections

import pytest

import wire
from flume_api import Status, ThriftFlumeEvent, flume_client
from leat import wait_until
from thrift_agent import LOGGER, config, incidents
from wire import Raw, field, i32, list_of, raw_append, raw_event, string, string_map

protocols = pytest.mark.parametrize("protocol", wire.ALL)


@pytest.fixture
def agent(leat):
    return leat(config(sink=LOGGER))


def bodies(agent, n):
    """Bodies of the first n events at the sink, in order."""
    entries = wait_until(lambda: len(agent.log("event")) >= n and agent.log("event"), f"{n} events arrived")
    return [entry["body"] for entry in entries]


# ---- answered, and kept ----

@pytest.mark.parametrize("protocol", ["compact", "binary"])
def test_a_thrift_client_gets_ok_for_events_that_arrive_whole(agent, protocol):
    with flume_client(agent.port("apps"), protocol) as client:
        assert client.append(ThriftFlumeEvent({"host": "a", "": "empty key"}, b"one")) == Status.OK
        assert client.appendBatch([ThriftFlumeEvent({}, b"two"), ThriftFlumeEvent({"k": ""}, b"")]) == Status.OK
        assert client.appendBatch([]) == Status.OK

    assert bodies(agent, 3) == ["one", "two", ""]
    headers = [entry["headers"] for entry in agent.log("event")]
    assert "host=a" in headers[0] and headers[1] == "" and headers[2] == "k="
    assert agent.metric("leat_source_events_received_total") == 3
    assert agent.metric("leat_source_events_accepted_total") == 3
    assert agent.metric("leat_source_appends_accepted_total") == 1
    assert agent.metric("leat_source_batches_accepted_total") == 2


@protocols
def test_every_sequence_id_is_echoed(agent, protocol):
    with Raw(agent.port("apps"), protocol) as client:
        for seqid in (0, 1, -1, 2**31 - 1, -(2**31)):
            answer = client.call(wire.append(protocol, b"x", seqid=seqid))
            assert (answer.name, answer.seqid, answer.status) == ("append", seqid, wire.OK)
        answer = client.call(wire.append_batch(protocol, [b"x"], seqid=7))
        assert (answer.name, answer.seqid, answer.status) == ("appendBatch", 7, wire.OK)


@protocols
def test_a_channel_that_is_full_fails_the_request_after_put_timeout_and_keeps_the_connection(leat, protocol):
    agent = leat(config(channel={"capacity": 1, "put-timeout": "300ms"}, sink={"refuse": True},
                        agent={"shutdown-timeout": "300ms"}))

    with Raw(agent.port("apps"), protocol) as client:
        assert client.call(wire.append(protocol, b"fits")).status == wire.OK
        assert client.call(wire.append(protocol, b"does not", seqid=2)).status == wire.FAILED
        assert client.call(wire.append_batch(protocol, [b"a", b"b"], seqid=3)).status == wire.FAILED

    assert agent.metric("leat_source_events_received_total") == 4
    assert agent.metric("leat_source_events_accepted_total") == 1
    assert agent.metric("leat_source_events_refused_total") == 3


@protocols
def test_a_channel_that_gets_room_in_time_answers_ok_after_all(leat, protocol):
    agent = leat(config(channel={"capacity": 1, "put-timeout": "15s"}, sink={**LOGGER, "batch-size": 1}))

    with Raw(agent.port("apps"), protocol) as client:
        for seqid in range(20):
            client.send_frame(wire.append(protocol, b"%d" % seqid, seqid=seqid))
        answers = [client.read_answer() for _ in range(20)]

    assert [(answer.seqid, answer.status) for answer in answers] == [(n, wire.OK) for n in range(20)]
    assert bodies(agent, 20) == [str(n) for n in range(20)]


@protocols
def test_one_channel_of_several_that_refuses_makes_the_answer_failed(leat, protocol):
    agent = leat({
        "agent": {"name": "story", "http": "127.0.0.1:0"},
        "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["wide", "narrow"]}},
        "channels": {"wide": {"type": "memory"}, "narrow": {"type": "memory", "capacity": 1}},
        "sinks": {"a": {"type": "null", "channel": "wide"}, "b": {"type": "null", "channel": "narrow"}},
    })

    with Raw(agent.port("apps"), protocol) as client:
        assert client.call(wire.append_batch(protocol, [b"a", b"b"])).status == wire.FAILED
        assert client.call(wire.append(protocol, b"a")).status == wire.OK


@protocols
def test_an_unknown_method_is_named_in_the_exception_and_the_connection_kept(agent, protocol):
    arguments = field(protocol, 1, "string", string(protocol, b"x")) + wire.STOP

    with Raw(agent.port("apps"), protocol) as client:
        answer = client.call(wire.message(protocol, "appendAll", arguments, seqid=9))
        assert (answer.name, answer.seqid, answer.exception) == ("appendAll", 9, wire.UNKNOWN_METHOD)
        assert "appendAll" in answer.text
        assert client.call(wire.message(protocol, "", seqid=10)).exception == wire.UNKNOWN_METHOD
        assert client.call(wire.message(protocol, "x" * 100000, seqid=11)).exception == wire.UNKNOWN_METHOD
        assert client.is_usable()

    assert incidents(agent, "unknown-method") == 3


INCOMPLETE = {
    "no event": lambda p, n: wire.message(p, "append", seqid=n),
    "no events": lambda p, n: wire.message(p, "appendBatch", seqid=n),
    "event is a string": lambda p, n: wire.message(
        p, "append", field(p, 1, "string", string(p, b"x")) + wire.STOP, seqid=n),
    "event in another field": lambda p, n: wire.message(
        p, "append", field(p, 2, "struct", raw_event(p)) + wire.STOP, seqid=n),
    "events is a set": lambda p, n: wire.message(
        p, "appendBatch", field(p, 1, "set", list_of(p, "struct", [raw_event(p)])) + wire.STOP, seqid=n),
    "no body": lambda p, n: raw_append(p, field(p, 1, "map", string_map(p, [])) + wire.STOP, seqid=n),
    "no headers": lambda p, n: raw_append(p, field(p, 2, "string", string(p, b"x")) + wire.STOP, seqid=n),
    "body is a number": lambda p, n: raw_append(
        p, field(p, 1, "map", string_map(p, [])) + field(p, 2, "i32", i32(p, 5)) + wire.STOP, seqid=n),
    "headers is a list": lambda p, n: raw_append(
        p, field(p, 1, "list", list_of(p, "string", [])) + field(p, 2, "string", string(p, b"x")) + wire.STOP, seqid=n),
    "one of three events without a body": lambda p, n: wire.message(
        p, "appendBatch", field(p, 1, "list", list_of(
            p, "struct", [raw_event(p), field(p, 1, "map", string_map(p, [])) + wire.STOP, raw_event(p)])) + wire.STOP,
        seqid=n),
}


@protocols
def test_what_lacks_something_required_gets_protocol_error_and_the_connection_is_kept(agent, protocol):
    with Raw(agent.port("apps"), protocol) as client:
        for seqid, (case, build) in enumerate(INCOMPLETE.items()):
            answer = client.call(build(protocol, seqid))
            assert answer is not None, case
            assert (answer.seqid, answer.exception) == (seqid, wire.PROTOCOL_ERROR), case
        assert client.is_usable()

    assert bodies(agent, 1) == ["still here"]
    assert agent.metric("leat_source_events_received_total") == 1
    assert incidents(agent, "incomplete-arguments") == len(INCOMPLETE)


# ---- answered, then closed ----

def nested(protocol, depth):
    """An unknown field of structs within structs, depth of them."""
    return field(protocol, 9, "struct", b"") * depth + wire.STOP * depth


MALFORMED = {
    "body longer than the frame": lambda p: raw_append(
        p, field(p, 1, "map", string_map(p, [])) + field(p, 2, "string", string(p, b"x", length=5000)) + wire.STOP),
    "body of 100 MB": lambda p: raw_append(
        p, field(p, 1, "map", string_map(p, [])) + field(p, 2, "string", string(p, b"x", length=10**8)) + wire.STOP),
    "a header key longer than the frame": lambda p: raw_append(
        p, field(p, 1, "map", string_map(p, [], count=1) + string(p, b"k", length=10**6))),
    "a map of a billion": lambda p: raw_append(
        p, field(p, 1, "map", string_map(p, [(b"k", b"v")], count=10**9)) + wire.STOP),
    "a list of two billion events": lambda p: wire.message(
        p, "appendBatch", field(p, 1, "list", list_of(p, "struct", [raw_event(p)], count=2**31 - 1)) + wire.STOP),
    "more events than are there": lambda p: wire.message(
        p, "appendBatch", field(p, 1, "list", list_of(p, "struct", [raw_event(p)], count=2)) + wire.STOP),
    "a list of numbers": lambda p: wire.message(
        p, "appendBatch", field(p, 1, "list", list_of(p, "i32", [i32(p, 1)])) + wire.STOP),
    "a map of numbers": lambda p: raw_append(
        p, field(p, 1, "map", string_map(p, [(b"k", b"v")], kinds=("i32", "string"))) + wire.STOP),
    "too deep": lambda p: raw_append(p, nested(p, 70) + raw_event(p)),
    "much too deep": lambda p: wire.message(p, "other", nested(p, 150000) + wire.STOP),
    "bytes behind the message": lambda p: wire.append(p, b"x") + b"\0",
    "nothing behind the header": lambda p: wire.message(p, "append", b""),
    "an event that does not end": lambda p: raw_append(p, raw_event(p)[:-1])[:-1],
}


@protocols
def test_bytes_that_cannot_be_trusted_get_protocol_error_and_the_connection_is_closed(agent, protocol):
    for case, build in MALFORMED.items():
        with Raw(agent.port("apps"), protocol) as client:
            answer = client.call(build(protocol))
            assert answer is not None, case
            assert (answer.seqid, answer.exception) == (1, wire.PROTOCOL_ERROR), case
            assert client.is_closed(), case

    assert incidents(agent, "malformed") == len(MALFORMED)
    assert agent.metric("leat_source_events_received_total") == 0


def test_an_over_long_varint_gets_protocol_error_and_the_connection_is_closed(agent):
    over_long = b"\x80" * 10 + b"\x01"

    with Raw(agent.port("apps")) as client:
        answer = client.call(raw_append("compact", field("compact", 1, "map", string_map("compact", []))
                                        + field("compact", 2, "string", over_long) + wire.STOP))
        assert answer.exception == wire.PROTOCOL_ERROR
        assert client.is_closed()


@protocols
def test_requests_before_the_bad_one_are_answered_and_those_behind_it_are_not_read(agent, protocol):
    with Raw(agent.port("apps"), protocol) as client:
        client.send(wire.frame(wire.append(protocol, b"good", seqid=1))
                    + wire.frame(wire.append(protocol, b"bad", seqid=2) + b"!")
                    + wire.frame(wire.append(protocol, b"late", seqid=3)))
        assert client.read_answer().status == wire.OK
        assert client.read_answer().exception == wire.PROTOCOL_ERROR
        assert client.is_closed()

    assert bodies(agent, 1) == ["good"]


# ---- closed without a word ----

UNREADABLE = {
    "frame of no bytes": (b"\0\0\0\0", "bad-length"),
    "frame of less": (b"\xff\xff\xff\xff", "bad-length"),
    "frame over the limit": (b"\x00\xfa\x00\x01", "frame-too-large"),
    "no message": (wire.frame(b"\x99\x99\x99\x99"), "bad-header"),
    "half a header": (wire.frame(b"\x82\x21"), "bad-header"),
    "a reply": (wire.frame(wire.message("compact", "append", kind=wire.REPLY)), "bad-header"),
    "an exception": (wire.frame(wire.message("binary", "append", kind=wire.EXCEPTION)), "bad-header"),
    "a name past the frame": (wire.frame(b"\x80\x01\x00\x01\x00\x00\xff\xffappend"), "bad-header"),
}


def test_what_is_no_call_at_all_is_closed_without_an_answer(agent):
    reasons = collections.Counter(reason for _, reason in UNREADABLE.values())

    with Raw(agent.port("apps")) as other:
        for case, (data, _) in UNREADABLE.items():
            with Raw(agent.port("apps")) as client:
                client.send(data)
                assert client.is_closed(), case
        assert other.is_usable()

    assert {reason: incidents(agent, reason) for reason in reasons} == reasons


def test_a_frame_of_exactly_the_limit_passes_and_one_byte_more_does_not(leat):
    agent = leat(config(source={"max-frame": 1000}))
    overhead = len(wire.append("binary", b""))

    with Raw(agent.port("apps"), "binary") as client:
        assert client.call(wire.append("binary", b"x" * (1000 - overhead))).status == wire.OK
        client.send_frame(wire.append("binary", b"x" * (1001 - overhead)))
        assert client.is_closed()

    entry = agent.wait_for_log("request too large")
    assert "max-frame" in entry["detail"]


# ---- stored all the same ----

@protocols
def test_a_oneway_call_is_stored_and_not_answered(agent, protocol):
    with Raw(agent.port("apps"), protocol) as client:
        client.send_frame(wire.append(protocol, b"quiet", kind=wire.ONEWAY))
        client.send_frame(wire.append_batch(protocol, [b"as", b"well"], kind=wire.ONEWAY))
        client.send_frame(wire.message(protocol, "unknown", kind=wire.ONEWAY))
        client.send_frame(wire.message(protocol, "append", kind=wire.ONEWAY))
        assert client.is_usable()

    assert bodies(agent, 4) == ["quiet", "as", "well", "still here"]


@protocols
def test_of_a_repeated_field_or_header_key_the_last_wins(agent, protocol):
    twice = (field(protocol, 1, "map", string_map(protocol, [(b"only", b"first")]))
             + field(protocol, 2, "string", string(protocol, b"first"))
             + field(protocol, 1, "map", string_map(protocol, [(b"k", b"1"), (b"k", b"2")]))
             + field(protocol, 2, "string", string(protocol, b"second")) + wire.STOP)

    with Raw(agent.port("apps"), protocol) as client:
        assert client.call(raw_append(protocol, twice)).status == wire.OK
        assert client.is_usable()

    assert bodies(agent, 1)[0] == "second"
    assert agent.log("event")[0]["headers"] == "k=2"


@protocols
def test_unknown_fields_and_another_order_of_fields_are_legal(agent, protocol):
    strange = (field(protocol, 2, "string", string(protocol, b"body first")) + nested(protocol, 5)
               + field(protocol, 1, "map", string_map(protocol, [(b"k", b"v")])) + wire.STOP)

    with Raw(agent.port("apps"), protocol) as client:
        assert client.call(raw_append(protocol, strange)).status == wire.OK

    assert bodies(agent, 1) == ["body first"]
    assert agent.log("event")[0]["headers"] == "k=v"


@protocols
def test_a_header_may_hold_any_bytes(agent, protocol):
    with Raw(agent.port("apps"), protocol) as client:
        assert client.call(raw_append(protocol, raw_event(protocol, [(b"a\0b", b"\xff\0")], b"\0body\0"))).status == wire.OK

    entry = agent.wait_for_log("event")
    assert bytes.fromhex(entry["hex"]) == b"\0body\0"
