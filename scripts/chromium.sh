#!/usr/bin/env bash
# Make sure that a Chromium is there for the browser tests. CHROMIUM names one elsewhere.
set -euo pipefail
chromium=${CHROMIUM:-/usr/bin/chromium}

if [[ -x $chromium ]]; then
    exit 0
fi
if [[ -z ${CHROMIUM:-} && $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium >/dev/null
    exit 0
fi
echo "There is no Chromium at $chromium. Install it (Debian: sudo apt-get install chromium), or set CHROMIUM to one," >&2
echo "or leave the browser tests out: .venv/bin/pytest -m 'not browser'" >&2
exit 1
