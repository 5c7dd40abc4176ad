"""conftest.py - the fixtures of the stories, for these too, and those with Flume, NSQ and RocketMQ."""
import importlib.util
import pathlib
import sys

STORIES = pathlib.Path(__file__).resolve().parents[1] / "integration"
sys.path.insert(0, str(STORIES))
_spec = importlib.util.spec_from_file_location("stories_conftest", STORIES / "conftest.py")
_stories = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_stories)
leat = _stories.leat
collector = _stories.collector
namesrv = _stories.namesrv
registry = _stories.registry
far_end = _stories.far_end

# These need the folder of the stories in the path.
from flume_agent import flume  # noqa: E402, F401
from flume_jars import flume_jars  # noqa: E402, F401
from nsq_programs import nsq_programs  # noqa: E402, F401
from numbered_events import start_sender  # noqa: E402, F401
from rocketmq_programs import rocketmq, rocketmq_5  # noqa: E402, F401
