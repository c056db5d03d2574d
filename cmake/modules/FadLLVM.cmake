# LLVM and MLIR, or what to install where CMake does not find them.

# Debian installs LLVM beside, not in, the usual prefix.
find_package(MLIR 22.1 QUIET CONFIG HINTS /usr/lib/llvm-22)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR
    "fad is built with LLVM and MLIR 22.1, which were not found. "
    "On Debian 12, install\n"
    "  apt-get install g++ cmake ninja-build llvm-22-dev libmlir-22-dev mlir-22-tools libzstd-dev libomp-22-dev\n"
    "or give the folder of MLIRConfig.cmake as MLIR_DIR, with pip as\n"
    "  --config-settings=cmake.define.MLIR_DIR=FOLDER\n"
    "The wheels of fad need no LLVM.")
endif()
