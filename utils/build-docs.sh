#!/usr/bin/env bash
# Builds the site of the documentation into the folder site of a build, by MkDocs with the
# theme Material, which it installs in the folder docs-venv there if Python lacks them.
#
# Usage: build-docs.sh [BUILD [PYTHON]], by default the folder build and python3.
# The target fad-docs makes the reference before it calls this.
set -euo pipefail
root=$(realpath "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/..")
build=$(realpath "${1:-$root/build}")
python=${2:-python3}

if ! "$python" -c 'import material, mkdocs' 2>/dev/null; then
  venv=$build/docs-venv
  requirements=$root/utils/site/requirements.txt
  if ! cmp -s "$requirements" "$venv/requirements.txt"; then
    "$python" -m venv --clear "$venv" ||
    { echo "build-docs.sh: install python3-venv first" >&2; exit 1; }
    "$venv/bin/python" -m pip install --quiet --requirement "$requirements"
    cp "$requirements" "$venv/requirements.txt"
  fi
  python=$venv/bin/python
fi
# The theme's notice of its successor is not about these pages.
NO_MKDOCS_2_WARNING=1 PYTHONDONTWRITEBYTECODE=1 \
  "$python" "$root/utils/site/make_site.py" --build "$build" --out "$build/site"
