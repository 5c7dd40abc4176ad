"""conftest.py - the fixtures of the stories, for these too."""
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
