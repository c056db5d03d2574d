# Sourced by test.sh: installs the packages of requirements.txt from PyPI into a
# virtual environment of the build's own, build/venv.

venv=$PWD/build/venv
requirements=$PWD/utils/requirements.txt
# Where PyTorch publishes the wheels without CUDA's libraries.
torch_index=https://download.pytorch.org/whl/cpu

# The environment notes what was installed last, once all of it is there.
venv_is_complete() {
  "$venv/bin/python" -c '' 2>/dev/null &&
    cmp -s "$requirements" "$venv/requirements.txt"
}

explain_failure() {
  echo "the Python packages that the tests need could not be installed from" \
    "PyPI; see the messages of pip above. With --light they are left out," \
    "and the tests that need them are skipped." >&2
  return 1
}

# No package is compiled to bytecode: that of all takes half a minute, and imports make theirs.
# PyTorch's own index is asked only where pip, as it is configured, does not
# find the wheel. Where neither has it, what both say is printed.
install_torch() {
  local torch said pip=("$venv/bin/python" -m pip install --no-compile --no-deps)
  torch=$(grep '^torch==' "$requirements")
  { said=$("${pip[@]}" "$torch" 2>&1 >&3); } 3>&1 ||
    "${pip[@]}" --index-url "$torch_index" "$torch" ||
    { echo "$said" >&2; return 1; }
}

# The environment with the packages that the build needs, of the first section.
install_build_packages() {
  if venv_is_complete; then
    echo "all Python packages are installed in build/venv"
    return
  fi
  echo "about to install into build/venv, from PyPI (about 500 MB to" \
    "download, 2.2 GB on disk; --light leaves it out):"
  sed -n '/^# Dependencies/q; s/^\([a-z].*\)==\(.*\)/  \1 \2/p' "$requirements"
  rm -f "$venv/requirements.txt"
  { "$python" -m venv --clear "$venv" &&
    sed -n '/^# Python bindings/,/^$/p' "$requirements" |
    "$venv/bin/python" -m pip install --no-compile --constraint "$requirements" \
      --requirement /dev/stdin; } || explain_failure
}

# All others, in that environment.
install_python_packages() {
  if venv_is_complete; then
    return
  fi
  { install_torch &&
    "$venv/bin/python" -m pip install --no-compile --requirement "$requirements"; } ||
    explain_failure || return
  cp "$requirements" "$venv/requirements.txt"
}
