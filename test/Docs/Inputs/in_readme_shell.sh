# Runs a command in a shell that has what the README says, and nothing else: a system's
# PATH, and the line that utils/environment.sh prints. Other variables are what other tests have
# found or made already, such as caches.
#
# Usage: in_readme_shell.sh CHECKOUT BUILD COMMAND...
checkout=$1 build=$2
shift 2
exec env -i HOME="$HOME" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 \
  FAD_CACHE_DIR="$FAD_CACHE_DIR" TORCHINDUCTOR_CACHE_DIR="$TORCHINDUCTOR_CACHE_DIR" \
  OMP_NUM_THREADS="$OMP_NUM_THREADS" PYTHONPYCACHEPREFIX="$PYTHONPYCACHEPREFIX" \
  TORCHINDUCTOR_VEC_ISA_OK="$TORCHINDUCTOR_VEC_ISA_OK" \
  TORCHINDUCTOR_COMPILE_THREADS="$TORCHINDUCTOR_COMPILE_THREADS" \
  ${COMPILER_PATH:+COMPILER_PATH="$COMPILER_PATH"} \
  CUDA_HOME="$CUDA_HOME" CUDA_PATH="$CUDA_PATH" \
  bash -c 'line=$("$0" "$1") && eval "$line" && shift && exec "$@"' \
  "$checkout/utils/environment.sh" "$build" "$@"
