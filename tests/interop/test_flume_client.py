"""test_flume_client.py - the real Java RpcClient of Apache Flume sends to leat, and every event arrives as it was.

Without Java, Maven or the network the stories are skipped, which shows in the last lines of the run.
"""
import pytest

from numbered_events import assert_all_arrived, finish_sender, read_json_events

N_EACH = 10000


def configuration(folder, protocol):
    return {
        "agent": {"http": "127.0.0.1:0"},
        "sources": {"flume": {"type": "thrift", "listen": "127.0.0.1:0", "protocol": protocol, "channels": ["buffer"]}},
        "channels": {"buffer": {"type": "memory"}},
        "sinks": {"files": {"type": "file", "channel": "buffer", "directory": str(folder), "format": "json"}},
    }


@pytest.mark.parametrize("accepts", ["auto", "as sent"])
@pytest.mark.parametrize("protocol", ["compact", "binary"])
def test_every_event_of_the_java_client_arrives_as_it_was(leat, start_sender, tmp_path, protocol, accepts):
    folder = tmp_path / "events"
    folder.mkdir()
    agent = leat(configuration(folder, protocol if accepts == "as sent" else "auto"))

    finish_sender(start_sender(agent.port("flume"), protocol, N_EACH))
    agent.stop()

    assert assert_all_arrived(read_json_events(folder), N_EACH) == 0
