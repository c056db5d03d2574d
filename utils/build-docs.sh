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
export PYTHONDONTWRITEBYTECODE=1

fail() {
  echo "build-docs.sh: $1" >&2
  exit 1
}

command -v "$python" > /dev/null ||
  fail "there is no $python; give a Python as the second argument"
make_site=("$root/utils/site/make_site.py" --build "$build" --out "$build/site")
"$python" "${make_site[@]}" --check

if ! "$python" -c 'import material, mkdocs' 2>/dev/null; then
  venv=$build/docs-venv
  requirements=$root/utils/site/requirements.txt
  if ! cmp -s "$requirements" "$venv/requirements.txt"; then
    "$python" -m venv --clear "$venv" || fail "install python3-venv first"
    "$venv/bin/python" -m pip install --quiet --requirement "$requirements" ||
      fail "pip cannot install the packages of $requirements; give a Python that has them as the second argument"
    cp "$requirements" "$venv/requirements.txt"
  fi
  python=$venv/bin/python
fi
# The theme's notice of its successor is not about these pages.
NO_MKDOCS_2_WARNING=1 "$python" "${make_site[@]}"
