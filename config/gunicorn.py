"""The server's shape, measured on this kind of work: one process a core, one thread each, connections kept open.

The pages are arithmetic and text, so a second thread in a process only waits for the first. The application is not
loaded before the fork, because each process watches the catalogue with a thread of its own.
"""

import os

bind = os.environ.get("HOST", "127.0.0.1") + ":" + os.environ.get("PORT", "8000")
workers = int(os.environ.get("WEB_CONCURRENCY") or os.cpu_count() or 1)
worker_class = "gthread"
threads = 1
keepalive = 75  # longer than the usual proxy's, so that the proxy closes first
limit_request_line = 8190  # bytes of method, address and query: gunicorn's most; a longer one is a 400
timeout = 60
graceful_timeout = 20
control_socket_disable = True


def post_worker_init(worker: object) -> None:  # noqa: ARG001 - gunicorn's signature
    """Each process follows the catalogue: an edit made in another one is live here within two seconds.

    The records of accuracy take some seconds: they are computed beside the first requests.
    """
    from calculator.web.panels.accuracy.record import compute_aside  # noqa: PLC0415 - Django is set up only now
    from catalog import live  # noqa: PLC0415

    live.warm()
    compute_aside(live.current)
