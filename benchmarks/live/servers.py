"""The processes of a fault test: server, brokers, PostgreSQL; a proxy that cuts; a webhook."""

from __future__ import annotations

import atexit
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PATIENCE = 120.0  # seconds to wait for a process


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def wait_for(condition: Callable[[], bool], what: str, *, seconds: float = PATIENCE) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"{what}: not within {seconds:g} s")
        time.sleep(0.02)


def listens(port: int) -> bool:
    with socket.socket() as sock:
        sock.settimeout(1)
        return sock.connect_ex(("127.0.0.1", port)) == 0


class Child:
    """A process that can be killed and started again."""

    def __init__(self, command: list[str], folder: Path, *, name: str) -> None:
        self.command, self.name = command, name
        self.kills = 0
        self.log = folder / f"{name}.log"
        self._file = self.log.open("ab")
        self.process: subprocess.Popen[bytes] | None = None
        atexit.register(self._end)  # however the script ends

    def _end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=self._file, stderr=self._file)

    def kill(self) -> None:
        """End it as a crash does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.kills += 1

    def stop(self) -> int:
        """End it in good order; return its exit code."""
        if self.process is None:
            return 0
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()

    def check(self) -> None:
        """Raise an error if it has ended by itself."""
        if self.process is not None and self.process.poll() is not None:
            tail = self.log.read_text(errors="replace")[-2_000:]
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {tail}")


class Server(Child):
    """``axonad live`` on a free port."""

    def __init__(self, model: Path, folder: Path, config: Mapping[str, Mapping[str, object]]):
        self.port = free_port()
        path = folder / "live.toml"
        path.write_text(
            "".join(
                f"[{table}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in keys.items())
                for table, keys in config.items()
            )
        )
        command = [sys.executable, "-m", "axonad", "live", str(model)]
        command += ["--config", str(path), "--port", str(self.port)]
        super().__init__(command, folder, name="server")

    def get(self, path: str, *, timeout: float = 10.0) -> str:
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self.port}{path}", timeout=timeout
        ) as answer:
            return str(answer.read().decode())

    def is_ready(self) -> bool:
        self.check()
        try:
            self.get("/ready")
        except (OSError, urllib.error.URLError):
            return False
        return True

    def wait(self) -> None:
        wait_for(self.is_ready, "the server")

    def metric(self, name: str) -> float:
        """Return a figure of /metrics; the sum over its labels."""
        lines = self.get("/metrics").splitlines()
        found = [
            line for line in lines if line.split("{")[0].split(" ")[0] == f"axonad_live_{name}"
        ]
        return sum(float(line.rsplit(" ", 1)[1]) for line in found)

    def counts(self) -> dict[str, int]:
        """Return what became of samples."""
        found = {}
        for line in self.get("/metrics").splitlines():
            if line.startswith("axonad_live_counts_total{"):
                label, value = line.rsplit(" ", 1)
                found[label.split('"')[1]] = int(float(value))
        return found


def find(program: str) -> str:
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/usr/local/sbin")
    if path is None:
        raise FileNotFoundError(f"{program} is not installed")
    return path


class Broker(Child):
    """Mosquitto or a NATS server with files in a folder."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.port = free_port()
        if kind == "mqtt":
            path = folder / "mosquitto.conf"
            path.write_text(
                f"listener {self.port} 127.0.0.1\nuser root\nallow_anonymous true\n"
                f"persistence true\npersistence_location {folder}/\n"
                "autosave_on_changes true\nautosave_interval 1\nmax_queued_messages 0\n"
            )
            command = [find("mosquitto"), "-c", str(path)]
        else:
            command = [find("nats-server"), "-js", "-a", "127.0.0.1", "-p", str(self.port)]
            command += ["-sd", str(folder / "jetstream")]
        super().__init__(command, folder, name=f"broker-{kind}")

    def wait(self) -> None:
        wait_for(lambda: listens(self.port), self.name)


class Postgres:
    """A PostgreSQL cluster of its own, run by the user ``postgres`` where we are root."""

    def __init__(self, folder: Path) -> None:
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        if not programs:
            raise FileNotFoundError("PostgreSQL is not installed in /usr/lib/postgresql")
        self._bin, self.data = programs[-1], folder / "postgres"
        self.port, self.kills = free_port(), 0
        self._user: list[str] = []
        self.data.mkdir()
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.data, user.pw_uid, user.pw_gid)
            for parent in [folder, *folder.parents][:-1]:
                if parent.stat().st_uid == os.getuid():
                    parent.chmod(parent.stat().st_mode | 0o055)
            self._user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}"]
            self._user += ["--clear-groups"]
        self._run("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "-E", "UTF8")
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def _run(self, program: str, *args: str, check: bool = True) -> int:
        command = [*self._user, str(self._bin / program), *args]
        done = subprocess.run(command, check=False, capture_output=True, cwd="/")
        if check and done.returncode:
            raise RuntimeError(f"{program}: {done.stderr.decode()[-500:]}")
        return done.returncode

    def start(self) -> None:
        options = f"-p {self.port} -h 127.0.0.1 -k {self.data} -c shared_buffers=16MB"
        args = ["-D", str(self.data), "-o", options, "-l", str(self.data / "log"), "-w", "start"]
        wait_for(lambda: self._run("pg_ctl", *args, check=False) == 0, "PostgreSQL")

    def kill(self, *, backend: bool) -> None:
        """Kill the process that serves the server, or the postmaster, and start it again."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        self.kills += 1
        if backend:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            for child in children:
                name = Path(f"/proc/{child}/cmdline").read_bytes()
                if b"127.0.0.1" in name:
                    os.kill(int(child), signal.SIGKILL)
                    return
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid), "the postmaster")
        self.start()

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "stop", check=False)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


class Proxy:
    """Forwards TCP to a port; while ``cut`` is set nothing gets through, in either direction."""

    def __init__(self, target: int) -> None:
        self._target, self.cut = target, threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self._listening.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self._target), timeout=5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            for pair in ((near, far), (far, near)):
                threading.Thread(target=self._forward, args=pair, daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65_536):
                while self.cut.is_set():
                    time.sleep(0.05)
                sink.sendall(data)
        except OSError:
            pass
        finally:
            for sock in (source, sink):
                sock.close()


class Receiver(ThreadingHTTPServer):
    """A webhook that counts how often each notice came."""

    daemon_threads = True

    def __init__(self) -> None:
        self.told: Counter[str] = Counter()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.told[self.headers["X-AxonAD-Id"]] += 1  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass
