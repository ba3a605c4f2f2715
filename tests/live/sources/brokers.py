"""Brokers and an Alertmanager for tests, on free ports; they can be killed and started."""

from __future__ import annotations

import shutil
import socket
import subprocess

import pytest

from tests.live.sources.fake_engine import wait_for


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Broker:
    """A process that listens on ``port``; ``command`` starts it."""

    def __init__(self, folder, command):
        self.port = free_port()
        self.folder = folder
        self._command = command
        self._process = None
        self._log = (folder / "broker.log").open("ab")

    def start(self):
        self._process = subprocess.Popen(  # noqa: S603
            self._command(self.port, self.folder), stdout=self._log, stderr=subprocess.STDOUT
        )
        wait_for(self._listens, f"the broker on port {self.port}")

    def kill(self):
        """End the process as a crash does, with SIGKILL."""
        self._process.kill()
        self._process.wait()

    def close(self):
        if self._process is not None:
            self.kill()
        self._log.close()

    def _listens(self):
        assert self._process.poll() is None, (self.folder / "broker.log").read_text()
        with socket.socket() as sock:
            sock.settimeout(1)
            return sock.connect_ex(("127.0.0.1", self.port)) == 0


def find(program):
    """Return the path of a program, or skip the test."""
    found = shutil.which(program, path=None) or shutil.which(program, path="/usr/sbin")
    if found is None:
        pytest.skip(f"needs {program}, which is not installed")
    return found


def mosquitto(folder, settings="allow_anonymous true\n", *, saves=True):
    """Return a Mosquitto; one that ``saves`` writes its sessions to a file with every message."""
    program = find("mosquitto")
    if saves:
        settings += f"persistence true\npersistence_location {folder}/\n"
        settings += "autosave_on_changes true\nautosave_interval 1\n"

    def command(port, folder):
        path = folder / "mosquitto.conf"
        user = "user root\n"  # started by root, it would not be allowed to write; else no effect
        path.write_text(f"listener {port} 127.0.0.1\n{user}max_queued_messages 0\n{settings}")
        return [program, "-c", str(path)]

    return Broker(folder, command)


def nats_server(folder, *options):
    """Return a NATS server with JetStream in a folder."""
    program = find("nats-server")

    def command(port, folder):
        place = ["-a", "127.0.0.1", "-p", str(port), "-sd", str(folder)]
        return [program, "-js", *place, *options]

    return Broker(folder, command)


def alertmanager(folder, *, receiver):
    """Return a Prometheus Alertmanager that notifies a webhook at once."""
    program = find("prometheus-alertmanager")

    def command(port, folder):
        path = folder / "alertmanager.yml"
        path.write_text(
            "route: {receiver: here, group_by: [...], group_wait: 0s, group_interval: 1s}\n"
            f"receivers: [{{name: here, webhook_configs: [{{url: '{receiver}'}}]}}]\n"
        )
        alone = ["--cluster.listen-address=", f"--storage.path={folder}/data"]
        return [program, f"--config.file={path}", f"--web.listen-address=127.0.0.1:{port}", *alone]

    return Broker(folder, command)


def resident_mebibytes():
    """Return the memory of this process."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * 4096 / 2**20
