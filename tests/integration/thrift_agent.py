"""thrift_agent.py - configurations with one Thrift source, for the stories about it."""


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
