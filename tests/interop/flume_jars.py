"""flume_jars.py - the jars of Apache Flume, client and agent."""
import pytest

from maven_jars import JAVA, NoJars, find_jars


@pytest.fixture(scope="session")
def flume_jars():
    """The class path; without Java, Maven or the network the story is skipped."""
    try:
        return find_jars("flume-1.11.0", JAVA / "pom.xml")
    except NoJars as reason:
        pytest.skip(f"no Flume met leat: {reason}")
