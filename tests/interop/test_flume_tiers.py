"""test_flume_tiers.py - leat and real agents of Apache Flume as tiers: leat's Thrift sink into Flume, Flume's into leat.

10,000 events each, 100,000 with LEAT_SOAK=1 in the environment. Without Java, Maven or the network the stories are
skipped, which shows in the last lines of the run.
"""
import os

import pytest

from avro_events import count_avro_events, read_avro_events
from leat import wait_until
from numbered_events import assert_all_arrived, finish_sender, key_of, read_json_events

N_EACH = 50_000 if os.environ.get("LEAT_SOAK") else 5_000  # of each kind that the sender sends
N_EVENTS = 2 * N_EACH
TIMEOUT = 300.0
IN_FLIGHT = 2
BATCH_SIZE = 200
FLUME_BATCH_SIZE = 100
MEMORY = {"type": "memory", "capacity": 200_000, "transactionCapacity": 10_000}

both_protocols = pytest.mark.parametrize("protocol", ["compact", "binary"])


def edge_config(port, protocol):
    """Takes events from applications and sends them on to Flume."""
    return {
        "agent": {"http": "127.0.0.1:0"},
        "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory"}},
        "sinks": {"next": {"type": "thrift", "channel": "buffer", "hosts": [f"127.0.0.1:{port}"], "protocol": protocol,
                           "in-flight": IN_FLIGHT, "batch-size": BATCH_SIZE, "backoff": "100ms", "max-backoff": "1s"}},
    }


def collector_config(folder, protocol):
    """Writes what Flume sends."""
    return {
        "agent": {"http": "127.0.0.1:0"},
        "sources": {"flume": {"type": "thrift", "listen": "127.0.0.1:0", "protocol": protocol, "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory"}},
        "sinks": {"files": {"type": "file", "channel": "buffer", "directory": str(folder), "format": "json"}},
    }


def thrift_sink_of_flume(collector, protocol):
    return {"type": "thrift", "hostname": "127.0.0.1", "port": collector.port("flume"), "protocol": protocol,
            "batch-size": FLUME_BATCH_SIZE}


def file_roll(folder):
    return {"type": "file_roll", "sink.directory": folder, "sink.rollInterval": 0, "sink.batchSize": 1000,
            "sink.serializer": "AVRO_EVENT"}


def n_delivered(agent):
    return agent.metric("leat_sink_events_delivered_total")


@pytest.fixture
def events_folder(tmp_path):
    folder = tmp_path / "events"
    folder.mkdir()
    return folder


@both_protocols
def test_every_event_of_leats_sink_arrives_in_flume_once_and_as_it_was(leat, flume, start_sender, events_folder, protocol):
    next_tier = flume(protocol, MEMORY, file_roll(events_folder))
    edge = leat(edge_config(next_tier.port, protocol))

    finish_sender(start_sender(edge.port("apps"), protocol, N_EACH))
    wait_until(lambda: count_avro_events(events_folder) >= N_EVENTS, "Flume has written every event", TIMEOUT)
    edge.stop()

    assert assert_all_arrived(read_avro_events(events_folder), N_EACH) == 0


@both_protocols
def test_every_event_of_flumes_sink_arrives_in_leat_once_and_as_it_was(leat, flume, start_sender, events_folder, protocol):
    collector = leat(collector_config(events_folder, protocol))
    first_tier = flume(protocol, MEMORY, thrift_sink_of_flume(collector, protocol))

    finish_sender(start_sender(first_tier.port, protocol, N_EACH))
    wait_until(lambda: n_delivered(collector) >= N_EVENTS, "leat has written every event", TIMEOUT)
    collector.stop()

    assert assert_all_arrived(read_json_events(events_folder), N_EACH) == 0


@both_protocols
def test_flume_killed_twice_between_two_tiers_of_leat_loses_nothing(
        leat, flume, start_sender, events_folder, tmp_path, protocol):
    collector = leat(collector_config(events_folder, protocol))
    middle = flume(protocol, durable_channel(tmp_path), thrift_sink_of_flume(collector, protocol))
    edge = leat(edge_config(middle.port, protocol))

    sender = start_sender(edge.port("apps"), protocol, N_EACH)
    wait_until(lambda: n_delivered(edge) >= N_EVENTS // 10, "Flume has the first events", TIMEOUT)
    middle.kill()
    finish_sender(sender)
    n_waited = edge.metric("leat_channel_events")
    middle.start()
    wait_until(lambda: n_delivered(collector) >= N_EVENTS // 10, "Flume has sent the first events on", TIMEOUT)
    middle.kill()
    n_arrived = n_delivered(collector)
    middle.start()
    wait_until(lambda: has_all(collector, events_folder), "the rest is through", TIMEOUT)
    edge.stop()
    collector.stop()

    n_again = assert_all_arrived(read_json_events(events_folder), N_EACH)
    print(f"{n_waited} events waited for Flume, {N_EVENTS - n_arrived} more were to come from it; {n_again} came twice")
    assert n_waited > 0, "everything had left the edge before Flume was killed"
    assert n_arrived < N_EVENTS, "everything had left Flume before it was killed again"
    assert n_again <= 2 * (IN_FLIGHT * BATCH_SIZE + FLUME_BATCH_SIZE)


def durable_channel(folder):
    """Flume's own memory channel would lose what it had accepted, and hide whether leat loses something."""
    return {"type": "file", "checkpointDir": folder / "checkpoint", "dataDirs": folder / "data",
            "minimumRequiredSpace": 1048576}


def has_all(collector, folder):
    if n_delivered(collector) < N_EVENTS:
        return False
    return len({key_of(headers) for headers, _ in read_json_events(folder)}) >= N_EVENTS


def test_a_flume_that_is_back_gets_its_share_again(leat, flume, tmp_path):
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    tiers = [flume("compact", MEMORY, file_roll(folder)) for folder in folders]
    config = edge_config(tiers[0].port, "compact")
    config["sources"] = {"numbers": {"type": "sequence", "rate": 1000, "batch-size": 100, "channels": ["buffer"]}}
    config["sinks"]["next"].update({"hosts": [f"127.0.0.1:{each.port}" for each in tiers], "client": "load-balance",
                                    "batch-size": 100, "max-host-backoff": "1s"})
    edge = leat(config)
    peer = config["sinks"]["next"]["hosts"][0]

    wait_until(lambda: all(count_avro_events(folder) for folder in folders), "both have a share", TIMEOUT)
    tiers[0].kill()
    edge.wait_for_log("trouble at the destination", peer=peer)
    tiers[0].start()
    edge.wait_for_log("recovered", TIMEOUT, peer=peer)
    n_before = count_avro_events(folders[0])

    wait_until(lambda: count_avro_events(folders[0]) > n_before + 1000, "it has a share again", TIMEOUT)
