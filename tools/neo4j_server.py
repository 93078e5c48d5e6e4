"""A Neo4j Community server for tests and for trying things out, from its own jars. Nothing of it ships (GPLv3).

    python tools/neo4j_server.py run                   # a fresh one; prints its address, Ctrl-C stops it
    python tools/neo4j_server.py run --home FOLDER     # keeps its data there
    python tools/neo4j_server.py fetch                 # only the jars (123 MB, once)

It needs Java 17 or newer and, the first time, Maven. The jars lie in the cache folder of the user, or where
RECOLLECT_NEO4J_LIB says.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

VERSION = "5.26.30"
OLDEST_JAVA = 17
START_SECONDS = 120.0  # a start takes 4 to 15; a loaded machine more

POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local.tools</groupId>
  <artifactId>neo4j-community-runtime</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{version}</version></dependency>
  </dependencies>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.8.1</version>
    <configuration><outputDirectory>{lib}</outputDirectory><includeScope>runtime</includeScope></configuration>
  </plugin></plugins></build>
</project>
"""

# The last four: runaway queries and lost locks end, a dead peer is noticed in seconds, SIGTERM is quick.
CONFIGURATION = {
    "server.http.enabled": "false",
    "server.https.enabled": "false",
    "dbms.usage_report.enabled": "false",
    "server.memory.pagecache.size": "64m",
    "db.tx_log.preallocate": "false",
    "db.transaction.timeout": "300s",
    "db.lock.acquisition.timeout": "10s",
    "server.bolt.connection_keep_alive": "5s",
    "internal.server.bolt.thread_pool_shutdown_wait_time": "0s",
}

#: Quick to start, slow under load; and the other way round.
QUICK = ("-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
STRONG = ("-Xms512m", "-Xmx1g", "-XX:+UseG1GC")
_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")


class Unavailable(Exception):
    """No server can be had on this machine; the message says why."""


def java() -> str:
    """The Java to run it with. Raises Unavailable where there is none, or one that is too old."""
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if command is None or not Path(command).exists():
        raise Unavailable(f"Neo4j needs Java {OLDEST_JAVA} or newer, and there is no java here.")
    told = subprocess.run([command, "-XshowSettings:properties", "-version"], capture_output=True, text=True).stderr
    version = re.search(r"java\.specification\.version = (\d+)", told)
    if version is None or int(version[1]) < OLDEST_JAVA:
        raise Unavailable(f"Neo4j needs Java {OLDEST_JAVA} or newer; {command} is {version[1] if version else 'none'}.")
    return command


def library() -> Path:
    """The folder of the jars, fetched with Maven if need be. Raises Unavailable."""
    wanted = os.environ.get("RECOLLECT_NEO4J_LIB")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "recollect"
    folder = Path(wanted) if wanted else cache / f"neo4j-{VERSION}"
    if (folder / f"neo4j-{VERSION}.jar").is_file():
        return folder
    if wanted:
        raise Unavailable(f"RECOLLECT_NEO4J_LIB has no neo4j-{VERSION}.jar.")
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("The jars of Neo4j are fetched with Maven (mvn), and there is none here.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        lib = Path(scratch) / "lib"
        pom = Path(scratch) / "pom.xml"
        pom.write_text(POM.format(version=VERSION, lib=lib), encoding="utf-8")
        command = [maven, "-B", "-q", "-f", str(pom), "dependency:copy-dependencies"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"Maven could not fetch Neo4j {VERSION}: {done.stdout.strip()[-500:]}")
        with contextlib.suppress(OSError):  # another process was quicker: its folder is as good
            lib.rename(folder)
    return folder


def _shared_classes(lib: Path) -> Path:
    """The classes of a server as Java has read and checked them, made once: with them a start takes half as long.
    Java does without them where there are none, or another Java's.
    """
    classes = lib / "classes.jsa"
    if classes.exists() or not os.access(lib, os.W_OK):
        return classes
    with (lib / "classes.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not classes.exists():
            with tempfile.TemporaryDirectory(dir=lib) as scratch:
                made = Path(scratch) / classes.name
                server = Server(Path(scratch), jvm=(*QUICK, f"-XX:ArchiveClassesAtExit={made}"))
                server.start()
                server.stop()
                made.rename(classes)
    return classes


class Server:
    """A server on a free port of this machine. `password` switches authentication on (user neo4j)."""

    def __init__(
        self,
        home: Path,
        *,
        jvm: Sequence[str] = (),
        password: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.home, self.password = home, password
        self._settings, self._lib, self._java = dict(settings or {}), library(), java()
        self._jvm = tuple(jvm) or (*QUICK, f"-XX:SharedArchiveFile={_shared_classes(self._lib)}")
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()
        if password is not None:
            self._configure()
            self._run_tool("dbms", "set-initial-password", password)

    @property
    def uri(self) -> str:
        """The address for a driver."""
        return f"bolt://127.0.0.1:{self.port}"

    def start(self, **settings: str) -> None:
        """Starts it and waits until it answers; `settings` hold for this start. Raises Unavailable with its log."""
        self._configure(settings)
        said = (self.home / "console.log").open("wb")
        self._process = subprocess.Popen(self._command(), stdout=said, stderr=subprocess.STDOUT)
        said.close()
        limit = time.monotonic() + START_SECONDS
        while time.monotonic() < limit:
            if self._process.poll() is not None:
                raise Unavailable(f"Neo4j did not start:\n{self._log()}")
            if _answers(self.port):
                return
            time.sleep(0.1)
        self.kill()
        raise Unavailable(f"Neo4j did not answer within {START_SECONDS:.0f} s:\n{self._log()}")

    def kill(self) -> None:
        """As a power cut would."""
        self._end(lambda process: process.kill())

    def stop(self) -> None:
        """In good order."""
        self._end(lambda process: process.terminate())

    def _end(self, how) -> None:  # type: ignore[no-untyped-def]
        if self._process is not None:
            how(self._process)
            self._process.wait(timeout=60)
            self._process = None

    def _command(self) -> list[str]:
        opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _OPENED]
        return [
            self._java, *self._jvm, "-Dlog4j2.disable.jmx=true", *opened, "-cp", f"{self._lib}/*",
            "org.neo4j.server.CommunityEntryPoint", f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}",
        ]  # fmt: skip

    def _configure(self, more: Mapping[str, str] | None = None) -> None:
        (self.home / "conf").mkdir(parents=True, exist_ok=True)
        address = f"127.0.0.1:{self.port}"
        folders = {name: str(self.home / name) for name in ("data", "logs", "run", "plugins", "import")}
        whole = {
            **{f"server.directories.{name}": folder for name, folder in folders.items()},
            "server.directories.transaction.logs.root": str(self.home / "data" / "transactions"),
            "server.bolt.listen_address": address,
            "server.bolt.advertised_address": address,
            "dbms.security.auth_enabled": "true" if self.password is not None else "false",
            **CONFIGURATION,
            **self._settings,
            **(more or {}),
        }
        lines = "".join(f"{name}={value}\n" for name, value in whole.items())
        (self.home / "conf" / "neo4j.conf").write_text(lines, encoding="utf-8")

    def _run_tool(self, *words: str) -> None:
        command = [self._java, *self._jvm, "-cp", f"{self._lib}/*", "org.neo4j.cli.AdminTool", *words]
        places = {"NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.home / "conf")}
        subprocess.run(command, env={**os.environ, **places}, check=True, capture_output=True)

    def _log(self) -> str:
        files = (self.home / "console.log", self.home / "logs" / "neo4j.log")
        return "\n".join(file.read_text(encoding="utf-8")[-2000:] for file in files if file.exists())


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _answers(port: int) -> bool:
    """Whether the Bolt handshake is answered."""
    offer = bytes.fromhex("6060B017") + bytes.fromhex("00000405") + bytes(12)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as peer:
            peer.sendall(offer)
            return len(peer.recv(4)) == 4
    except OSError:
        return False


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "fetch"))
    parser.add_argument("--home", type=Path, help="folder of the data (default: a new one, thrown away)")
    parser.add_argument("--password", help="of the user neo4j; without it nobody is asked")
    asked = parser.parse_args()
    try:
        if asked.what == "fetch":
            print(library())
            return 0
        with tempfile.TemporaryDirectory() as scratch:
            home = (asked.home or Path(scratch)).absolute()
            server = Server(home, jvm=STRONG, password=asked.password)
            server.start()
            print(f"Neo4j {VERSION} at {server.uri}, data in {home}; Ctrl-C stops it.", flush=True)
            try:
                while True:
                    time.sleep(3600)
            except KeyboardInterrupt:
                server.stop()
    except Unavailable as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
