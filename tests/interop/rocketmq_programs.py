"""rocketmq_programs.py - Apache RocketMQ's brokers, admin tool and clients round two name servers: leat-registry and its own."""
import contextlib
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import threading

import pytest

from leat import wait_until
from maven_jars import JAVA, NoJars, find_jars
from nsq_programs import free_ports
from registry import Registry
from remoting import CLUSTER, Remoting

START_TIMEOUT = 90.0  # a JVM on a busy machine, and brokers that register 10 s after their start
CLUSTER_NAME = "c1"
OPENS = ["java.nio", "sun.nio.ch", "java.util.concurrent", "jdk.internal.ref"]
JVM = ["java", "-Xms64m", "-Xmx256m", "-XX:MaxDirectMemorySize=256m", "-XX:TieredStopAtLevel=1",
       "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99", "-Drocketmq.client.logUseSlf4j=true",
       *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENS),
       *(f"--add-exports=java.base/{name}=ALL-UNNAMED" for name in OPENS)]
# What logging libraries say of themselves on stdout.
NOISE = re.compile(r"^\d\d:\d\d:\d\d,\d+ \|-|^SLF4J|^RocketMQLog")
# Files of a few megabytes in place of gigabytes.
SMALL = {"mappedFileSizeCommitLog": 16777216, "mappedFileSizeConsumeQueue": 120000, "maxHashSlotNum": 1000, "maxIndexNum": 4000,
         "mappedFileSizeTimerLog": 1048576, "enableCompaction": "false", "diskMaxUsedSpaceRatio": 99,
         "registerNameServerPeriod": 10000, "flushDiskType": "ASYNC_FLUSH"}


def free_broker_port():
    """A broker also takes the ports two below and one above; not of those that the system gives to connections."""
    while True:
        port = random.randrange(20000, 30000)
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for number in (port - 2, port, port + 1):
                stack.enter_context(socket.create_server(("127.0.0.1", number)))
            return port


class Jars:
    """One version of RocketMQ, and our driver of its tools, compiled for it."""

    def __init__(self, version):
        self.version = version
        self.path = find_jars(f"rocketmq-{version}", JAVA / "rocketmq" / "pom.xml", f"-Drocketmq.version={version}")
        self.classes = pathlib.Path(os.path.dirname(self.path) + ".classes")
        source = JAVA / "RocketDriver.java"
        if not self.classes.exists() or self.classes.stat().st_mtime < source.stat().st_mtime:
            shutil.rmtree(self.classes, ignore_errors=True)
            subprocess.run(["javac", "-cp", self.path, "-d", self.classes, source], check=True)

    def command(self, home, main, *arguments):
        return [*JVM, f"-Duser.home={home}", f"-Drocketmq.home.dir={home}", "-cp", f"{self.classes}:{self.path}", main,
                *(str(argument) for argument in arguments)]


def jars_of(version):
    try:
        return Jars(version)
    except NoJars as reason:
        return pytest.skip(f"no RocketMQ met leat-registry: {reason}")


@pytest.fixture(scope="session", params=["5.3.3", "4.9.7"])
def rocketmq(request):
    """Each version; 4.9.7 is the last of 4.9 that Maven's repository has whole."""
    return jars_of(request.param)


@pytest.fixture(scope="session")
def rocketmq_5():
    """The version that leat-registry stands for."""
    return jars_of("5.3.3")


class Driver:
    """mqadmin, a producer and a consumer in one JVM."""

    def __init__(self, jars, home, servers):
        self.log = home / "driver.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(jars.command(home, "RocketDriver", servers), text=True, bufsize=1,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)

    def ask(self, *words):
        """What is said to it, without empty lines."""
        watchdog = threading.Timer(START_TIMEOUT * 2, self.process.kill)
        watchdog.start()
        self.process.stdin.write("\t".join(str(word) for word in words) + "\n")
        lines = []
        for line in iter(self.process.stdout.readline, ""):
            line = line.rstrip()
            if line.endswith("done"):  # the one before may have no end
                watchdog.cancel()
                return [line for line in (*lines, line[:-4]) if line]
            if line and not NOISE.match(line):
                lines.append(line)
        raise AssertionError(f"the driver ended at {words}: {self.log.read_text(errors='replace')[-2000:]}")

    def admin(self, command, servers, *words):
        """An mqadmin command."""
        return self.ask("admin", command, "-n", servers, *words)


class NamesrvPair:
    """Two name servers: leat-registry, and RocketMQ's own."""

    def __init__(self, folder, jars):
        self.folder, self.jars = folder, jars
        self.running = {}
        self.kv_files = [folder / "leat-kv.json", folder / "kv.json"]
        (folder / "conf").mkdir()
        for name in ("broker", "namesrv", "tools"):  # 4.9 does not start without them
            (folder / "conf" / f"logback_{name}.xml").write_text("<configuration/>")
        self.registry = Registry(folder, {
            "nsqlookupd": "off", "http": "127.0.0.1:0",
            "namesrv": {"listen": "127.0.0.1:0", "kv-config-path": str(self.kv_files[0])}}).start()
        self.addresses = [tuple(self.registry.namesrv), self.start_namesrv()]
        self.servers = ["%s:%d" % address for address in self.addresses]

    def start(self, name, main, options, **environment):
        """A Java program of RocketMQ's with this file of properties."""
        file = self.folder / f"{name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in options.items()))
        with open(self.folder / f"{name}.log", "wb") as log:
            self.running[name] = subprocess.Popen(self.jars.command(self.folder, main, "-c", file), stdout=log, stderr=log,
                                                  env={**os.environ, **environment})

    def start_namesrv(self):
        (port,) = free_ports(1)
        self.start("namesrv", "org.apache.rocketmq.namesrv.NamesrvStartup",
                   {"listenPort": port, "kvConfigPath": self.kv_files[1], "configStorePath": self.folder / "ns.properties"})
        wait_until(lambda: self.listens("namesrv", port), "the original listens", START_TIMEOUT)
        return "127.0.0.1", port

    def listens(self, name, port):
        assert self.running[name].poll() is None, (self.folder / f"{name}.log").read_text()[-2000:]
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0

    def kill(self, name):
        """SIGKILL."""
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def close(self):
        for name in list(self.running):
            self.kill(name)
        self.registry.stop()


class RocketWorld(NamesrvPair):
    """Brokers of one name that are registered with both, and the tools and clients of RocketMQ."""

    def __init__(self, folder, jars):
        super().__init__(folder, jars)
        self.ours = self.servers[0]
        self.both = ";".join(self.servers)
        self.driver = Driver(jars, folder, self.ours)

    def start_broker(self, name, number):
        """Its address. A slave writes its headers in RocketMQ's binary form."""
        port = free_broker_port()
        store = self.folder / f"store-{number}"
        environment = {"ROCKETMQ_SERIALIZE_TYPE": "ROCKETMQ"} if number else {}
        self.start(name, "org.apache.rocketmq.broker.BrokerStartup", {
            "brokerClusterName": CLUSTER_NAME, "brokerName": "b1", "brokerId": number, "brokerIP1": "127.0.0.1",
            "brokerRole": "SLAVE" if number else "ASYNC_MASTER", "namesrvAddr": self.both, "listenPort": port,
            "storePathRootDir": store, "storePathCommitLog": store / "commitlog", **SMALL}, **environment)
        return f"127.0.0.1:{port}"

    def brokers(self, server):
        """Addresses by id, as a server has them."""
        host, port = server.split(":")
        client = Remoting((host, int(port)))
        try:
            groups = client.ask(CLUSTER).json["brokerAddrTable"]
        finally:
            client.close()
        return groups.get("b1", {"brokerAddrs": {}})["brokerAddrs"]

    def wait_for_brokers(self, expected):
        for server in self.servers:
            wait_until(lambda: self.has_brokers(server, expected), f"{server} has {expected}", START_TIMEOUT)

    def has_brokers(self, server, expected):
        for name, process in self.running.items():
            assert process.poll() is None, f"{name} ended: " + (self.folder / f"{name}.log").read_text()[-2000:]
        return self.brokers(server) == expected

    def both_say(self, command, *words):
        """What an mqadmin command says of both, which must be the same; without what it says of the server itself."""
        said = [[line.replace(server, "SERVER") for line in self.driver.admin(command, server, *words)]
                for server in self.servers]
        assert said[0] == said[1]
        return said[0]

    def close(self):
        self.driver.process.kill()
        self.driver.process.wait()
        super().close()
