"""The site as `make run` serves it, on a port of its own, for the benchmarks that need a real server."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection

PATIENCE_S = 60


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served() -> Iterator[int]:
    """The port of a running server with as many processes as the machine has cores."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--config", "config/gunicorn.py", "config.wsgi"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env={**os.environ, "PORT": str(port)}, **quiet)
    try:
        _wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        assert process.poll() is None, "the server did not start: does `make run` work?"
        try:
            connection = HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("the server is not ready")
