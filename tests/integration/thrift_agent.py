"""thrift_agent.py - an agent with one Thrift source, for the stories about it."""
from leat import has_address_sanitizer


def config(source=None, channel=None, sink=None, agent=None):
    """A Thrift source 'apps', a memory channel 'buffer', a sink 'out' that throws events away; arguments add options."""
    return {
        "agent": {"name": "story", "http": "127.0.0.1:0", "shutdown-timeout": "2s", **(agent or {})},
        "sources": {"apps": {"type": "thrift", "listen": "127.0.0.1:0", "channels": ["buffer"], **(source or {})}},
        "channels": {"buffer": {"type": "memory", **(channel or {})}},
        "sinks": {"out": {"type": "null", "channel": "buffer", **(sink or {})}},
    }


LOGGER = {"type": "logger", "linger": "0s"}


def incidents(agent, reason):
    return agent.metric("leat_thrift_source_incidents_total", reason=reason)


def open_connections(agent):
    return agent.metric("leat_source_open_connections")


def assert_grew_at_most(agent, allowed_kb, since_kb):
    """Of anonymous memory, since it was since_kb. Says nothing of a sanitized build, which keeps what is freed."""
    now_kb = agent.status_kb("RssAnon")
    print(f"RssAnon was {since_kb} kB, is {now_kb} kB")
    if not has_address_sanitizer():
        assert now_kb - since_kb <= allowed_kb
