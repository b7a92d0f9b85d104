# `make run` serves the site on http://127.0.0.1:8000 and `make test` runs every check. Both need only Python 3.11 or
# newer; `make test` also needs Chromium, which it installs on Debian when it may.

PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(shell command -v $(name))))
PORT ?= 8000
HOST ?= 127.0.0.1
export PORT HOST

BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
STATIC_FILES := $(shell find static -type f)

.PHONY: run dev test lint format types bench clean

run: .venv/runtime var/secret_key var/static/staticfiles.json
	$(BIN)/python manage.py migrate --verbosity 0
	$(BIN)/python manage.py load_catalog
	@echo "Open http://$(HOST):$(PORT)/  (Ctrl-C stops it)"
	@exec $(BIN)/gunicorn --config config/gunicorn.py config.wsgi

# The same with reload on change and Django's error pages.
dev: .venv/runtime
	STOWAGE_DEBUG=1 $(BIN)/python manage.py migrate --verbosity 0
	STOWAGE_DEBUG=1 $(BIN)/python manage.py load_catalog
	STOWAGE_DEBUG=1 $(BIN)/python manage.py runserver $(HOST):$(PORT)

test: .venv/dev
	scripts/check.sh

lint: .venv/dev
	scripts/check.sh lint

format: .venv/dev
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	git ls-files --cached --others --exclude-standard 'templates/django/*.html' | xargs -r $(BIN)/djade --target-version 5.2

types: .venv/dev
	scripts/check.sh types

bench: .venv/dev var/secret_key var/static/staticfiles.json
	$(BIN)/python manage.py migrate --verbosity 0
	$(BIN)/python manage.py load_catalog
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv var .pytest_cache .mypy_cache .ruff_cache .hypothesis

# The stamps .venv/runtime and .venv/dev are newer than the requirements they were installed from.
.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed. Name one: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/runtime: requirements.txt | .venv/bin/python
	$(PIP) -r requirements.txt
	@touch $@

.venv/dev: requirements-dev.txt requirements.txt | .venv/bin/python
	$(PIP) -r requirements-dev.txt
	@touch $@ .venv/runtime

var/secret_key: | .venv/bin/python
	@mkdir -p var
	@(umask 077 && $(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(50))' > $@)

var/static/staticfiles.json: $(STATIC_FILES) .venv/runtime | var/secret_key
	$(BIN)/python manage.py collectstatic --no-input --verbosity 0
	@touch $@
