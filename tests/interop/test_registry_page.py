"""test_registry_page.py - the registry's page in a real browser: it renews itself, and takes nothing from elsewhere."""
import shutil
import subprocess

import pytest

from leat import needs
from registry import joined
from remoting import Remoting

pytestmark = needs("libsoup")


@pytest.fixture
def browser(tmp_path):
    """A function that starts headless Chromium on a page, which prints its document after so many of its own seconds.

    They are over as soon as the page has nothing left to do in them, but for requests, which take as long as they take.
    """
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no browser met leat-registry: there is no Chromium here")
    started = []

    def start(url, seconds):
        started.append(subprocess.Popen(
            [path, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom",
             "--enable-logging=stderr", f"--virtual-time-budget={seconds * 1000}", url],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def test_the_page_renews_itself_and_breaks_none_of_its_own_rules(registry, browser):
    made = registry(http="127.0.0.1:0")
    first = joined(made, "before", hostname="<script>alert(1)</script>")
    process = browser("http://%s:%d/" % made.address("http"), 1200)
    made.wait_for_log("asked for the page", timeout=30)
    node = joined(made, "joined-later", broadcast_address="later.example")
    made.post("/topic/tombstone", topic="before", node="node1.example:4151")
    document, said = process.communicate(timeout=60)

    assert "joined-later" in document and "later.example:4150" in document and "<td>later.example:4151</td>" in document
    assert "node1.example:4151 <strong>(under a tombstone)</strong>" in document
    assert "&lt;script&gt;alert(1)" in document
    assert "Content Security Policy" not in said and "Uncaught" not in said
    assert first and node


def test_brokers_that_join_appear_on_the_page(namesrv, browser):
    made = namesrv()
    broker = Remoting(made.namesrv)
    broker.register(topics=("<script>alert(1)</script>", "before"))
    process = browser("http://%s:%d/" % made.address("http"), 1200)
    made.wait_for_log("asked for the page", timeout=30)
    broker.register("joined-later", "10.0.0.2:10911")
    document, said = process.communicate(timeout=60)

    assert "joined-later" in document and "10.0.0.2:10911" in document
    assert "&lt;script&gt;alert(1)" in document
    assert "Content Security Policy" not in said and "Uncaught" not in said
