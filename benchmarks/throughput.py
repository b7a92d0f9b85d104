"""Recomputes a second that the server answers on loopback, each with another context, over connections kept open.

    python -m benchmarks.throughput

One process asks for each connection with next to no work of its own; it shares the machine with the server, so a server
on its own machine answers somewhat more.
"""

from __future__ import annotations

import multiprocessing
import socket
import time
from http.client import HTTPConnection
from urllib.parse import urlencode

from benchmarks.questions import QUESTIONS, SLIDERS, Page
from benchmarks.server import served

SECONDS = 6.0
WARM_UP_S = 1.5
GOAL_PER_S = 1200


def _page(port: int) -> Page:
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("GET", f"/?{urlencode(QUESTIONS['one GPU'])}")
    page = Page(connection.getresponse().read().decode())
    connection.request("GET", "/?ctx=9000", headers={**page.headers, "Accept-Encoding": "identity"})
    page.learn(connection.getresponse().read().decode())
    return page


def _requests(port: int, first: int) -> list[bytes]:
    headers = "".join(f"{name}: {value}\r\n" for name, value in _page(port).headers.items())
    return [
        f"GET /?ctx={SLIDERS['context'](first + number)}&v=1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n".encode()
        for number in range(1009)
    ]


def _answered(connection: socket.socket) -> None:
    """Read one response to its end."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head[:60]
    length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    missing = length - len(body)
    while missing > 0:
        missing -= len(connection.recv(missing))


def _ask(port: int, first: int, counted: multiprocessing.Queue[int]) -> None:
    requests = _requests(port, first)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        count, started = 0, time.monotonic()
        while (passed := time.monotonic() - started) < WARM_UP_S + SECONDS:
            connection.sendall(requests[count % len(requests)])
            _answered(connection)
            count = count + 1 if passed >= WARM_UP_S else 0
    counted.put(count)


def per_second(connections: int) -> float:
    """Recomputes a second over so many connections."""
    counted: multiprocessing.Queue[int] = multiprocessing.Queue()
    with served() as port:
        asking = [
            multiprocessing.Process(target=_ask, args=(port, 101 * each, counted))
            for each in range(connections)
        ]
        for process in asking:
            process.start()
        total = sum(counted.get() for _ in asking)
        for process in asking:
            process.join()
    return total / SECONDS


def main() -> None:
    cores = multiprocessing.cpu_count()
    answered = per_second(cores)
    print(
        f"server on {cores} cores: {answered:.0f} recomputes/s on loopback (goal {GOAL_PER_S} on two cores)"
    )


if __name__ == "__main__":
    main()
