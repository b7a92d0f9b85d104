#!/usr/bin/env python
"""Django's command line for this project."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from django.core.management import execute_from_command_line  # noqa: PLC0415 - see the message below
    except ImportError as error:
        message = "Django is not installed in this Python. Use .venv/bin/python, which `make .venv` creates."
        raise SystemExit(message) from error
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
