# Installs the packages in /mnt/packages, uses them, and removes them.
set -e
export DEBIAN_FRONTEND=noninteractive PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH"
unset PYTHONPATH
# lit has a folder for temporary files that is not there.
unset TMPDIR TEMPDIR TMP TEMP
export FAD_CACHE_DIR=/tmp/cache
# Programs outside may change this system meanwhile, which is below the copy; what is changed
# in the copy itself is in a folder of in_copy.sh.
changes=/mnt/copy/upper
# list FOLDER ARGUMENTS...: the files below FOLDER, without logs and the caches of apt and Python.
list() {
  (cd "$1" && shift && {
    find etc home opt root usr var -xdev ! -path 'var/log/*' ! -path 'var/cache/*' \
      ! -path 'var/lib/apt/*' ! -path 'var/lib/dpkg/*-old' ! -path '*/__pycache__*' "$@"
    find usr/lib/python3/dist-packages/fad* "$@"
  } 2>/dev/null | LC_ALL=C sort -u)
}
list / > /tmp/before
apt-get install -y --no-install-recommends -o APT::Sandbox::User=root \
  /mnt/packages/*.deb
cd /tmp
fad-opt --version
bash -c 'source /usr/share/bash-completion/completions/fad-opt && complete -p fad-opt'
if fad-opt --help | grep test-fad; then exit 1; fi
fad-memory-report /mnt/inputs/gelu.mlir --size=4
fad-runner /mnt/inputs/gelu.mlir --policy=auto --size=4 --check-gradients
/usr/bin/python3 /mnt/inputs/use_package.py /usr/lib/python3/dist-packages
fad-opt /mnt/inputs/relu.mlir
cmake -G Ninja -S /mnt/inputs/consumer -B /tmp/consumer -DEXAMPLE=/mnt/inputs/embed > /dev/null
cmake --build /tmp/consumer
/tmp/consumer/kernels | sed 's/^/devices: /'
/tmp/consumer/embed/embed | sed 's/^/C++ /'
/tmp/consumer/embed/embed-c | sed 's/^/C /'
apt-get purge -y fad libfad-dev python3-fad
test -f $changes/var/lib/dpkg/status
# What is removed is a device there.
list $changes ! -type c | LC_ALL=C comm -13 /tmp/before - > /tmp/left
list $changes -type c | LC_ALL=C comm -12 /tmp/before - > /tmp/gone
if [ -s /tmp/left ] || [ -s /tmp/gone ]; then
  sed 's/^/left: /' /tmp/left
  sed 's/^/gone: /' /tmp/gone
  exit 1
fi
echo nothing is left
