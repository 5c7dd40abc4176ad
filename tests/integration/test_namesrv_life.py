"""test_namesrv_life.py - the name server for RocketMQ as a process: brokers that come and go, the watch, files, log, end."""
import contextlib
import json
import os
import pathlib
import subprocess
import time

import pytest

from leat import BUSY, needs, wait_until
from registry import Registry, program
from remoting import Remoting, topic_config

pytestmark = needs("libsoup")


# ---- the watch ----

def index_of(answer):
    return answer.fields["leatIndex"]


def test_a_watch_is_answered_as_soon_as_the_route_changes(namesrv):
    made = namesrv()
    broker, client = Remoting(made.namesrv), Remoting(made.namesrv)
    nowhere = client.route("t1")
    assert nowhere.code == 17 and index_of(nowhere) == nowhere.fields["leatEpoch"]

    waiting = client.send(105, topic="t1", leatWait=60000, leatIndex=index_of(nowhere))
    assert client.ask(206).json == {"topicList": []}  # others are answered meanwhile
    started = time.monotonic()
    broker.register()
    there = client.receive()
    assert time.monotonic() - started < 1 + BUSY
    assert (there.code, there.header["opaque"]) == (0, waiting)
    assert int(index_of(there)) > int(index_of(nowhere))
    assert client.route("t1", leatWait=60000, leatIndex=index_of(nowhere)).code == 0  # an index of before: at once

    client.send(105, topic="t1", leatWait=60000, leatIndex=index_of(there))
    wait_until(lambda: made.metric("leat_registry_watches") == 1, "it waits")
    broker.register("b2", "10.0.0.2:10911", topics=("t2", "t3"))  # another topic
    assert made.metric("leat_registry_watches") == 1
    broker.close()
    gone = client.receive()
    assert gone.code == 17 and index_of(gone) == index_of(nowhere)


def test_a_watch_ends_with_its_time_its_client_and_the_registry(namesrv):
    made = namesrv()
    client = Remoting(made.namesrv)
    index = index_of(client.route("t1"))
    assert client.route("t1", leatWait=50, leatIndex=index).code == 17

    other = Remoting(made.namesrv)
    for _ in range(3):
        other.send(105, topic="t1", leatWait=60000, leatIndex=index)
    client.send(105, topic="t1", leatWait=60000, leatIndex=index)
    wait_until(lambda: made.metric("leat_registry_watches") == 4, "they wait")
    other.close()
    wait_until(lambda: made.metric("leat_registry_watches") == 1, "one has gone away")
    made.stop()
    assert client.receive().code == 17 and client.is_at_end()


# ---- brokers come and go ----

def test_a_watch_ends_before_its_connection_is_idle_for_too_long(namesrv):
    client = Remoting(namesrv(idle_timeout="4s").namesrv)
    index = index_of(client.route("t1"))

    assert client.route("t1", leatWait=60000, leatIndex=index).code == 17
    assert client.route("t1").code == 17


def test_a_watch_is_answered_in_the_form_and_with_the_order_that_were_asked_for(namesrv):
    made = namesrv(order_topics=True)
    broker, old = Remoting(made.namesrv), Remoting(made.namesrv, version=317)
    old.send(105, topic="t1", leatWait=60000, leatIndex=index_of(old.route("t1")))
    broker.register()
    there = old.receive()
    assert b'"brokerAddrs":{0:"10.0.0.1:10911"}' in there.body

    old.send(105, topic="t1", leatWait=60000, leatIndex=index_of(there))
    broker.ask(100, namespace="ORDER_TOPIC_CONFIG", key="t1", value="b1:8")
    assert old.receive().json["orderTopicConf"] == "b1:8"


def test_a_watch_that_costs_too_much_is_answered_at_once(namesrv):
    client = Remoting(namesrv().namesrv)
    index = index_of(client.route("t1"))

    assert client.route("t1", leatWait=60000, leatIndex=index, padding="x" * 2048).code == 17
    for _ in range(1000):
        client.send(105, topic="t1", leatWait=60000, leatIndex=index)
    assert client.route("t1", leatWait=60000, leatIndex=index).code == 17


def test_a_broker_that_is_not_heard_expires_and_its_connection_is_closed(namesrv):
    made = namesrv(scan_interval="10ms")
    broker, client = Remoting(made.namesrv), Remoting(made.namesrv)
    broker.register(heartbeatTimeoutMillis=300)

    made.wait_for_log("broker expired", node="10.0.0.1:10911", reason="it was not heard")
    assert broker.is_at_end()
    assert client.brokers("t1") == {}


def test_a_heartbeat_keeps_a_broker(namesrv):
    made = namesrv(scan_interval="10ms", idle_timeout="4s")
    broker, client = Remoting(made.namesrv), Remoting(made.namesrv)
    broker.register(heartbeatTimeoutMillis=4000)
    version = json.dumps({"counter": 1, "stateVersion": 0, "timestamp": 1700000000000}).encode()
    who = {"clusterName": "c1", "brokerName": "b1", "brokerAddr": "10.0.0.1:10911"}
    same = broker.ask(322, version, brokerId=0, **who)
    other = broker.ask(322, version.replace(b"1,", b"2,", 1), brokerId=0, **who)
    assert (same.fields["changed"], other.fields["changed"]) == ("false", "true")
    assert same.json == json.loads(version)
    assert "body" not in client.ask(322, version, **{**who, "brokerAddr": "1:1"}).fields

    until = time.monotonic() + 4.5
    while time.monotonic() < until:
        broker.send(904, one_way=True, **who)
        time.sleep(0.1)  # the heartbeats themselves
    assert Remoting(made.namesrv).brokers("t1") == {"b1": {"0": "10.0.0.1:10911"}}
    assert not made.log("broker expired")


def test_an_idle_connection_is_closed_and_its_brokers_leave(namesrv):
    made = namesrv(idle_timeout="2s")
    broker = Remoting(made.namesrv)
    broker.register()

    assert broker.is_at_end()
    made.wait_for_log("broker left", reason="it was idle for too long")


def test_a_stale_close_and_a_stale_unregister_do_not_touch_a_newer_connection(namesrv):
    made = namesrv()
    old, client = Remoting(made.namesrv), Remoting(made.namesrv)
    old.register()
    fresh = Remoting(made.namesrv)
    fresh.register()

    assert old.unregister().code == 0
    made.wait_for_log("stale unregister ignored", node="10.0.0.1:10911")
    old.close()
    wait_until(lambda: made.metric("leat_registry_connections", type="namesrv") == 2, "the old one is gone")
    assert client.brokers("t1") == {"b1": {"0": "10.0.0.1:10911"}}
    assert fresh.unregister().code == 0 and client.brokers("t1") == {}


def test_a_broker_that_flaps_is_seen_as_it_is(namesrv):
    made = namesrv()
    client = Remoting(made.namesrv)
    for _ in range(100):
        broker = Remoting(made.namesrv)
        broker.register(one_way=True)
        broker.close()

    wait_until(lambda: made.metric("leat_registry_connections", type="namesrv") == 1, "the last has left")
    assert client.brokers("t1") == {} and made.metric("leat_registry_nodes") == 0
    assert len(made.log("broker joined")) == len(made.log("broker left")) > 0


# ---- what is logged ----

def test_what_happens_is_logged_once_with_who_and_why(namesrv):
    made = namesrv()
    broker, rival = Remoting(made.namesrv), Remoting(made.namesrv)
    peer = "%s:%d" % broker.socket.getsockname()
    who = {"broker": "b1", "node": "10.0.0.1:10911", "cluster": "c1", "id": 0, "peer": peer}
    broker.register()
    broker.register(topics=("t3",))
    broker.ask(205, brokerName="b1")
    broker.ask(216, topic="t3")
    for _ in range(3):
        rival.register(address="10.0.0.9:10911")
        broker.register()
    broker.register("b2", "10.0.0.2:10911", topics=("t1", "TBW102"))
    broker.register("b3", "10.0.0.3:10911", topics=("t1", "TBW102"))
    broker.close()
    made.wait_for_log("broker left", node="10.0.0.3:10911")

    assert len(made.log("broker joined", topics=2, **who)) == 1
    assert len(made.log("topic registered", topic="t3", broker="b1")) == 1
    assert len(made.log("asked by remoting", action="wipe-write-perm", name="b1", peer=peer)) == 1
    assert len(made.log("write permission wiped", broker="b1", topics=3)) == 1
    assert len(made.log("topic deleted", topic="t3")) == 1
    (taken,) = made.log("broker id taken over by another address")
    assert taken["level"] == "warning" and (taken["node"], taken["other_node"]) == ("10.0.0.9:10911", "10.0.0.1:10911")
    assert made.metric("leat_registry_events_total", event="taken-over") == 1
    assert made.metric("leat_registry_events_total", event="taken-over-again") == 5
    (template,) = made.log("topics create themselves, TBW102 can be written")
    assert template["level"] == "warning" and template["broker"] == "b2"
    made.wait_for_log("broker left", node="10.0.0.1:10911")
    assert len(made.log("broker left", reason="it closed the connection", **who)) == 1


def test_who_changed_a_route_by_hand_is_logged(namesrv):
    made = namesrv()
    broker, admin = Remoting(made.namesrv), Remoting(made.namesrv)
    peer = "%s:%d" % admin.socket.getsockname()
    broker.register()
    queues = {"brokerName": "b1", "readQueueNums": 4, "writeQueueNums": 2, "perm": 4, "topicSysFlag": 0}
    resized = json.dumps({"brokerDatas": [], "queueDatas": [queues]}).encode()

    for _ in range(2):
        admin.ask(217, resized, topic="t1")
    admin.ask(217, resized.replace(b"b1", b"b9"), topic="t1")
    admin.unregister()

    assert len(made.log("asked by remoting", action="register-topic")) == 1
    assert len(made.log("asked by remoting", action="register-topic", name="t1", peer=peer)) == 1
    assert len(made.log("topic resized", topic="t1", reason="read queues 4, write queues 2, permission r--")) == 1
    assert len(made.log("broker left", broker="b1", reason=f"unregistered by {peer}")) == 1


def rows(made, *words):
    """Those of the page that have all of these."""
    return [line for line in made.ask("/").text.splitlines() if line.startswith("<tr>") and all(w in line for w in words)]


def row(made, *words):
    (found,) = rows(made, *words)
    return found


def wait_until_one_is_about_to_expire(made, address):
    """A broker on a connection of its own, and another if the page was looked at too late."""
    silent = []

    def is_shown():
        if not rows(made, address):
            silent.append(Remoting(made.namesrv))
            silent[-1].register("silent", address, topics=("t5", "t6"), heartbeatTimeoutMillis=2000)
        return rows(made, address, "about to expire")

    wait_until(is_shown, "a broker was silent for long")


def test_the_page_shows_brokers_routes_and_what_needs_a_look(namesrv):
    made = namesrv()
    broker, rival = Remoting(made.namesrv), Remoting(made.namesrv)
    body = json.dumps({"topicConfigSerializeWrapper": {"dataVersion": {"counter": 1, "timestamp": 1}, "topicConfigTable": {
        "<b>": topic_config("<b>"), "wide": topic_config("wide", writeQueueNums=9),
        "TBW102": topic_config("TBW102", perm=7)}}}).encode()
    broker.ask(103, body, brokerName="b1", brokerAddr="10.0.0.1:10911", clusterName="c1", brokerId=0)
    rival.register("b2", "10.0.0.2:10911", topics=("read", "t1"), brokerId=1)
    rival.register("b3", "10.0.0.3:10911", topics=("t3", "t4"))
    rival.ask(205, brokerName="b3")

    assert ">offered<" in row(made, "&lt;b&gt;", "b1", "rw-")
    assert "writes to more queues than are read" in row(made, "wide", ">9<", ">8<")
    assert "topics create themselves" in row(made, "TBW102", "rwx")
    assert "not written to" in row(made, "t3", "b3", "r--")
    assert "active" in row(made, "master", "10.0.0.1:10911", "c1")
    assert "active" in row(made, "slave", "10.0.0.2:10911")
    wait_until_one_is_about_to_expire(made, "10.0.0.4:10911")
    rival.register("b1", "10.0.0.9:10911")
    assert "another address has taken its id" in row(made, ">10.0.0.1:10911<")
    assert "has taken the id of 10.0.0.1:10911" in row(made, ">10.0.0.9:10911<")
    broker.close()
    wait_until(lambda: "active" in row(made, "10.0.0.9:10911"), "the quarrel is over")
    assert made.ask("/healthz").text == "ok\n"


# ---- lists, KV configuration, settings ----

def test_lists_are_as_the_original_makes_them(namesrv):
    made = namesrv()
    broker = Remoting(made.namesrv)
    body = json.dumps({"topicConfigSerializeWrapper": {"dataVersion": {"counter": 1, "timestamp": 1}, "topicConfigTable": {
        f"t{flag}": topic_config(f"t{flag}", topicSysFlag=flag) for flag in range(4)}}}).encode()
    assert broker.ask(103, body, brokerName="b1", brokerAddr="10.0.0.1:10911", clusterName="c1", brokerId=0).code == 0

    lists = {code: sorted(broker.ask(code, cluster="c1").json["topicList"]) for code in (206, 224, 311, 312, 313)}
    assert lists == {206: ["t0", "t1", "t2", "t3"], 224: ["t0", "t1", "t2", "t3"], 311: ["t1", "t3"],
                     312: ["t2", "t3"], 313: ["t2"]}
    assert broker.ask(224, cluster="c9").json == {"topicList": []}
    assert broker.ask(304).json == {"brokerAddr": "10.0.0.1:10911", "topicList": ["c1", "b1"]}
    assert broker.ask(901, brokerName="b1", clusterName="c1").json == {
        "brokerMemberGroup": {"brokerAddrs": {"0": "10.0.0.1:10911"}, "brokerName": "b1", "cluster": "c1"}}
    assert broker.ask(901, brokerName="b9", clusterName="c1").json["brokerMemberGroup"]["brokerAddrs"] == {}


def test_lists_may_be_switched_off(namesrv):
    made = namesrv(list_all_topics=False, list_topics=False)
    client = Remoting(made.namesrv)

    for code in (206, 224, 311, 312, 313):
        answer = client.ask(code, cluster="c1")
        assert (answer.code, answer.remark) == (1, "disable")


def test_routes_are_not_told_before_brokers_can_have_come_back(namesrv):
    made = namesrv(wait_for_service="3s")
    client = Remoting(made.namesrv)
    client.register()
    early = client.route("t1")
    assert (early.code, early.remark) == (1, "name server not ready")
    wait_until(lambda: client.route("t1").code == 0, "it is ready")


def test_the_kv_configuration_outlives_a_kill(namesrv):
    made = namesrv(order_topics=True)
    client = Remoting(made.namesrv)
    missing = client.ask(101, namespace="n", key="k")
    assert (missing.code, missing.remark) == (22, "No config item, Namespace: n Key: k")
    assert client.ask(219, namespace="n").remark == "No config item, Namespace: n"
    assert client.ask(100, namespace="n", key="k").code == 0  # as if it had been deleted
    assert client.ask(219, namespace="n").json == {"table": {}}
    assert client.ask(100, key="k", value="v").remark == "namespace or key is null"
    assert client.ask(100, namespace="n", key="k", value="v").code == 0
    assert client.ask(100, namespace="ORDER_TOPIC_CONFIG", key="t1", value="b1:4").code == 0
    made.kill()

    made.start()
    client = Remoting(made.namesrv)
    assert client.ask(101, namespace="n", key="k").fields == {"value": "v"}
    assert client.register().json == {"table": {"t1": "b1:4"}}
    assert client.route("t1").json["orderTopicConf"] == "b1:4"
    assert client.ask(102, namespace="n", key="k").code == client.ask(102, namespace="n", key="k").code == 0
    assert client.ask(219, namespace="n").json == {"table": {}}


def test_a_disk_that_hangs_keeps_nobody_waiting_but_those_who_change_the_kv_configuration(namesrv):
    made = namesrv()
    disk = made.folder / "kvConfig.json.new"
    client, other = Remoting(made.namesrv), Remoting(made.namesrv)
    os.mkfifo(disk)  # who opens it to write waits until somebody reads
    put = client.send(100, namespace="n", key="k", value="v")
    assert client.ask(101, namespace="n", key="k").code == 22
    assert other.register().code == 0 and other.route("t1").code == 0 and made.ask("/healthz").text == "ok\n"

    with open(disk, "rb"):  # the disk is back, and fails
        refused = client.receive()
    assert (refused.header["opaque"], refused.code) == (put, 1) and "kvConfig.json cannot be written" in refused.remark
    assert client.ask(101, namespace="n", key="k").code == 22
    assert client.ask(100, namespace="n", key="k", value="v").code == 0

    os.mkfifo(disk)
    client.send(100, namespace="n", key="k", value="other")
    assert client.ask(101, namespace="n", key="k").fields["value"] == "v"
    made.stop()
    assert 1000 <= made.log("stopped")[0]["ms"] < 1500 + BUSY * 1000
    assert json.loads((made.folder / "kvConfig.json").read_text()) == {"configTable": {"n": {"k": "v"}}}


def test_a_broken_kv_configuration_keeps_it_from_starting(namesrv):
    made = namesrv(start=False)
    path = made.folder / "kvConfig.json"
    path.write_text('{"configTable":')
    made.launch()

    assert made.wait() == 1
    (entry,) = made.log("the registry cannot start")
    assert entry["error"].startswith(f"namesrv.kv-config-path: {path}: it is no KV configuration; mend it or move it away")
    assert path.read_text() == '{"configTable":'


def test_a_start_says_that_the_kv_configuration_cannot_be_saved_and_changes_are_refused(namesrv):
    path = "/proc/leat-kvConfig.json"
    made = namesrv(kv_config_path=path)
    (entry,) = made.log("the KV configuration cannot be saved, changes of it will be refused; "
                        "make its folder writable or write another namesrv.kv-config-path")
    assert entry["path"] == path and entry["error"].startswith(f"{path}.new: ")

    client = Remoting(made.namesrv)
    refused = client.ask(100, namespace="n", key="k", value="v")
    assert refused.code == 1 and refused.remark.startswith(f"{path} cannot be created: ")
    assert client.ask(101, namespace="n", key="k").code == 22
    assert client.register().code == 0  # all else works


def test_a_start_says_that_the_folder_of_the_kv_configuration_has_yet_to_be_made(namesrv, tmp_path):
    folder = tmp_path / "not" / "there"
    made = namesrv(kv_config_path=str(folder / "kv.json"))
    assert made.log("the folder of the KV configuration is not there, the first change will make it; "
                    "write another namesrv.kv-config-path if it is not the one", error=f"{folder} is not there")
    assert Remoting(made.namesrv).ask(100, namespace="n", key="k", value="v").code == 0
    assert json.loads((folder / "kv.json").read_text()) == {"configTable": {"n": {"k": "v"}}}
    made.stop()

    assert not namesrv(kv_config_path=str(folder / "kv.json")).log("the folder of the KV configuration is not there")


def test_settings_are_shown_and_changed_only_if_that_is_allowed(namesrv):
    made = namesrv()
    client = Remoting(made.namesrv)
    refused = client.ask(318, b"enableAllTopicList=false")
    assert refused.code == 16 and client.ask(206).code == 0
    assert f"\nlistenPort={made.namesrv[1]}\n" in client.ask(319).body.decode()
    assert b"\nenableAllTopicList=true\n" in client.ask(319).body

    client = Remoting(namesrv(remote_config=True).namesrv)
    assert client.ask(318, b"enableAllTopicList=false\nwhatever=1").code == 0
    assert client.ask(206).remark == "disable" and b"\nenableAllTopicList=false\n" in client.ask(319).body
    for name in ("configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome"):
        answer = client.ask(318, f"{name}=/x".encode())
        assert (answer.code, answer.remark) == (16, "Can not update config in black list.")


# ---- the command line of namesrv ----

@pytest.fixture
def properties(tmp_path):
    path = tmp_path / "namesrv.properties"
    path.write_text("# as it comes\nlistenPort=0\nbindAddress=127.0.0.1\n"
                    f"kvConfigPath={tmp_path}/kv/kvConfig.json\nrocketmqHome=/opt/rocketmq\norderMessageEnable=true\n")
    return path


def test_the_file_and_options_of_namesrv_are_taken_as_it_spells_them(properties, tmp_path):
    folder = tmp_path / "registry"
    folder.mkdir()
    made = Registry(folder, None, ["-c", str(properties), "-n", "10.0.0.1:9876"])
    made.launch()
    with contextlib.closing(Remoting(made.address("namesrv"))) as client:
        assert client.ask(100, namespace="n", key="k", value="v").code == 0
    assert (tmp_path / "kv" / "kvConfig.json").exists()
    assert made.log("option ignored", detail=f"{properties}:5: 'rocketmqHome' has no effect here")
    assert not made.log("listening", component="http") and not made.log("listening", component="nsqlookupd-tcp")
    made.stop()

    shown = subprocess.run([program(), "-c", str(properties), "-p"], capture_output=True, text=True, timeout=20, check=True)
    assert "\nlistenPort=0\n" in shown.stdout and "\norderMessageEnable=true\n" in shown.stdout
    assert shown.stdout.splitlines() == sorted(shown.stdout.splitlines())


@pytest.mark.parametrize("text, said", [
    ("\nlistenPort=many\n", "2:1: listenPort: 'many' is no number from 0 to 65535; "),
    ("listenPort=0\nbindAddress=a b\n", "2:1: bindAddress: 'a b:0' is not host:port; "),
    ("a=b\nc=\\u00zz\n", "2:1: this is no property; "),
    ("scanNotActiveBrokerInterval=soon\n", "1:1: scanNotActiveBrokerInterval: 'soon' is no number "),
    ("scanNotActiveBrokerInterval=0\n", "1:1: scanNotActiveBrokerInterval: '0ms' is out of range; "),
    ("kvConfigPath=\n", "1:1: kvConfigPath: '' is no path; "),
])
def test_a_bad_file_of_namesrv_is_refused_with_line_key_and_remedy(tmp_path, text, said):
    path = pathlib.Path(tmp_path / "namesrv.properties")
    path.write_text(text)
    shown = subprocess.run([program(), "-c", str(path)], capture_output=True, text=True, timeout=20, check=False)

    assert shown.returncode == 1 and shown.stderr.startswith(f"{path}:{said}") and shown.stderr.count("\n") == 1


def test_one_of_both_must_be_on(tmp_path):
    path = tmp_path / "r.yaml"
    path.write_text("nsqlookupd: off\nnamesrv: off\n")
    assert "are both off" in subprocess.run([program(), str(path)], capture_output=True, text=True, check=False).stderr
    refused = subprocess.run([program(), "-tcp-address=:0", str(path)], capture_output=True, text=True, check=False).stderr
    assert "it is off, but an option sets its tcp-address" in refused
