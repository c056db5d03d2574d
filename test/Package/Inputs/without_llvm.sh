# without_llvm.sh FOLDER COMMAND...: runs a command where LLVM, which is installed in
# FOLDER, and its libraries in the system's folder are not there.
hide='
for library in /usr/lib/*-linux-gnu/libLLVM* /usr/lib/*-linux-gnu/libMLIR* \
  /usr/lib/*-linux-gnu/libomp*; do
  [ -f "$library" ] && mount --bind /dev/null "$library"
done
mount -t tmpfs none "$0" && exec "$@"'
folder=$(realpath "$1")
shift
if [ "$(id -u)" -eq 0 ]; then
  exec unshare --mount sh -c "$hide" "$folder" "$@"
fi
exec unshare --map-root-user --mount sh -c "$hide" "$folder" "$@"
