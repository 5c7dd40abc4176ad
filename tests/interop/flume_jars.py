"""flume_jars.py - the jars of Apache Flume, client and agent."""
import pytest

from maven_jars import JAVA, NoJars, find_jars


def find_flume():
    """The class path of Flume 1.11.0."""
    return find_jars("flume-1.11.0", JAVA / "pom.xml")


@pytest.fixture(scope="session")
def flume_jars():
    """The class path; without Java, Maven or the network the story is skipped."""
    try:
        return find_flume()
    except NoJars as reason:
        pytest.skip(f"no Flume met leat: {reason}")
