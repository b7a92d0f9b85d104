#!/usr/bin/env bash
# Run every check, or only the groups that are named: lint, types, django, tests. All of a group's steps run even when
# one fails; at the end stands which failed and how to run it alone.
set -uo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.venv/bin:$PATH"
failed=()

step() { # step "what is checked" command…
    local name=$1
    shift
    echo "── $name"
    if ! "$@"; then
        failed+=("$name: $*")
    fi
}

templates() { git ls-files --cached --others --exclude-standard "$@"; }

# The same checks as on a real server: HTTPS on, a strong key, DEBUG off.
as_production() {
    env STOWAGE_DEBUG=0 STOWAGE_HTTPS=1 STOWAGE_HSTS_PRELOAD=1 ALLOWED_HOSTS=stowage.example SECRET_KEY_FILE= \
        SECRET_KEY="$(python -c 'import secrets; print(secrets.token_urlsafe(50))')" "$@"
}

lint() {
    step "lint" ruff check .
    step "format" ruff format --check .
    step "Jinja templates" djlint --lint --quiet $(templates 'templates/*.html' ':!templates/django')
    step "Django templates" djade --check --target-version 5.2 $(templates 'templates/django/*.html')
}

types() {
    step "types" python -m mypy # the folder first: a library brings a package `tests` of its own
}

django() {
    local manage=(python manage.py) settings=--settings=tests.settings
    step "settings and models" "${manage[@]}" check "$settings"
    step "migrations match the models" "${manage[@]}" makemigrations --check --dry-run "$settings"
    step "deployment" as_production "${manage[@]}" check --deploy --fail-level WARNING
    if compgen -G "locale/*/LC_MESSAGES/*.po" >/dev/null; then
        step "translations" bash -c 'for file in locale/*/LC_MESSAGES/*.po; do msgfmt --check --output-file=/dev/null "$file" || exit 1; done'
    fi
}

tests() {
    step "chromium for the browser tests" scripts/chromium.sh
    step "tests" python -m pytest -n 2 --dist worksteal -m "not alone"
    step "tests of times" python -m pytest -m alone
}

for group in "${@:-lint types django tests}"; do
    for name in $group; do
        "$name"
    done
done

if ((${#failed[@]})); then
    printf '\nFailed. Run a part alone with .venv/bin in the PATH:\n' >&2
    printf '  %s\n' "${failed[@]}" >&2
    exit 1
fi
