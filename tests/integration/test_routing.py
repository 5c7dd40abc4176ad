"""test_routing.py - the way of events from a source into its channels: interceptors, selectors, optional channels."""
import json
import re

from flume_api import Status, ThriftFlumeEvent, flume_client
from leat import wait_until

AGENT = {"name": "story", "http": "127.0.0.1:0", "shutdown-timeout": "5s"}


def file_sink(folder, name):
    return {"type": "file", "channel": name, "directory": str(folder / name), "format": "json"}


def arrived(folder, name):
    """Headers and bodies of what a stopped agent left in the files of a sink."""
    lines = [line for path in sorted((folder / name).glob("*")) for line in path.read_text().splitlines()]
    return [(event["headers"], event["body"]) for event in map(json.loads, lines)]


def batch(*events):
    return [ThriftFlumeEvent(headers, body) for headers, body in events]


def test_each_event_is_edited_and_goes_where_it_belongs(leat, tmp_path):
    agent = leat({
        "agent": AGENT,
        "sources": {"apps": {
            "type": "thrift", "listen": "127.0.0.1:0", "channels": ["errors", "rest"],
            "interceptors": [
                {"type": "regex-filter", "regex": "^DEBUG", "exclude-events": True},
                {"type": "search-replace", "search-pattern": r"password=(\w)\w*", "replace-string": "password=$1***"},
                {"type": "regex-extractor", "regex": r"^(\w+) (\d\S+)?",
                 "serializers": [{"name": "level"},
                                 {"name": "at", "type": "millis", "pattern": "yyyy-MM-dd'T'HH:mm:ssZ"}]},
                {"type": "remove-header", "matching": "x-.*"},
                {"type": "static", "key": "dc", "value": "fra"},
                {"type": "host", "use-ip": False},
                {"type": "timestamp"},
                {"type": "uuid"},
            ],
            "selector": {"type": "multiplexing", "header": "level", "mapping": {"ERROR": ["errors"]},
                         "default": "rest", "optional": {"WARN": ["errors"]}},
        }},
        "channels": {"errors": {"type": "memory"}, "rest": {"type": "memory"}},
        "sinks": {name: file_sink(tmp_path, name) for name in ("errors", "rest")},
    })

    with flume_client(agent.port("apps")) as client:
        assert client.appendBatch(batch(
            ({"x-trace": "1", "app": "shop"}, b"ERROR 2026-02-28T13:14:15+01:00 password=secret"),
            ({}, b"DEBUG noise"),
            ({"dc": "ber", "id": "mine"}, b"INFO fine"),
            ({}, b"WARN soon"),
        )) == Status.OK
    assert agent.metric("leat_source_events_dropped_total") == 1
    agent.stop()

    (headers, body), warning = arrived(tmp_path, "errors")
    assert body == "ERROR 2026-02-28T13:14:15+01:00 password=s***"
    assert (headers["level"], headers["at"], headers["dc"], headers["app"]) == ("ERROR", "1772280855000", "fra", "shop")
    assert "x-trace" not in headers and headers["host"] and re.fullmatch(r"\d{13}", headers["timestamp"])
    assert re.fullmatch(r"[0-9a-f-]{36}", headers["id"])
    rest = arrived(tmp_path, "rest")
    assert [body for _, body in rest] == ["INFO fine", "WARN soon"] and warning == rest[1]
    assert (rest[0][0]["dc"], rest[0][0]["id"]) == ("ber", "mine")


def test_an_optional_channel_that_is_full_holds_nobody_up(leat):
    agent = leat({
        "agent": {**AGENT, "shutdown-timeout": "300ms"},
        "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"],
                             "optional-channels": ["watch"]}},
        "channels": {"buffer": {"type": "memory"}, "watch": {"type": "memory", "capacity": 5, "put-timeout": "1h"}},
        "sinks": {"out": {"type": "null", "channel": "buffer"},
                  "stuck": {"type": "null", "channel": "watch", "refuse": True}},
    })

    with flume_client(agent.port("apps")) as client:
        for number in range(20):
            assert client.append(ThriftFlumeEvent({}, b"%d" % number)) == Status.OK
    wait_until(lambda: agent.metric("leat_sink_events_delivered_total", component="out") == 20, "all have arrived")
    assert agent.metric("leat_source_optional_failures_total") == 15
    line = agent.wait_for_log("an optional channel gets no copy", source="apps", level="warning")
    assert re.fullmatch(r"channel 'watch' had no room in time; it holds 5 of 5 events and \d+ B of [\d.]+ [MG]iB; "
                        "copies left out by this source so far: 1", line["detail"])
    assert agent.metric("leat_channel_events", component="watch") == 5


def test_load_balancing_spreads_the_events_of_a_batch(leat, tmp_path):
    names = ["a", "b", "c"]
    agent = leat({
        "agent": AGENT,
        "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": names,
                             "selector": {"type": "load-balance"}}},
        "channels": {name: {"type": "memory"} for name in names},
        "sinks": {name: file_sink(tmp_path, name) for name in names},
    })

    with flume_client(agent.port("apps")) as client:
        assert client.appendBatch(batch(*[({}, b"%d" % number) for number in range(7)])) == Status.OK
    agent.stop()

    assert {name: [body for _, body in arrived(tmp_path, name)] for name in names} == {
        "a": ["0", "3", "6"], "b": ["1", "4"], "c": ["2", "5"]}
