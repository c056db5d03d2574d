# Installs the packages in /mnt/packages, uses them, and removes them.
set -e
export DEBIAN_FRONTEND=noninteractive PATH="/usr/sbin:/usr/bin:/sbin:/bin:$PATH"
unset PYTHONPATH
# lit has a folder for temporary files that is not there.
unset TMPDIR TEMPDIR TMP TEMP
export FAD_CACHE_DIR=/tmp/cache
list() {
  (cd / && find etc home opt root usr var -xdev ! -path 'var/log/*' ! -path 'var/cache/*' \
    ! -path 'var/lib/apt/*' ! -path 'var/lib/dpkg/*-old' ! -path '*/__pycache__*' | sort)
  (cd / && find usr/lib/python3/dist-packages/fad* 2>/dev/null) || true
}
list > /tmp/before
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
cmake --build /tmp/consumer --target kernels
/tmp/consumer/kernels | sed 's/^/devices: /'
apt-get purge -y fad libfad-dev python3-fad
list > /tmp/after
diff /tmp/before /tmp/after
echo nothing is left
