"""Each header of an installation compiles alone: without the precompiled header of the build,
and without another header before it.

Without --every, those of C."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys


def is_c(header):
    return header.parts[0] == "fad-c"


def find_headers(include):
    """The headers in the folder `include`, as paths relative to it."""
    return sorted(path.relative_to(include) for path in include.glob("fad*/**/*.h"))


def explain(header, options):
    """The compiler's message about a header, if that is wrong."""
    command = [options.cxx, "-x", "c++", "-std=c++17", "-fno-rtti"]
    if is_c(header):
        command = [options.cc, "-x", "c", "-std=c11"]
    folders = f"-I{options.include}", "-isystem", options.llvm
    return subprocess.run(
        [*command, "-fsyntax-only", "-Wall", "-Werror", *folders, "-"],
        input=f'#include "{header}"\n',
        text=True,
        capture_output=True,
    ).stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("include", type=pathlib.Path, help="the headers' folder")
    parser.add_argument("--llvm", required=True, help="the folder of LLVM's headers")
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--every", action="store_true")
    options = parser.parse_args()
    headers = find_headers(options.include)
    assert any(map(is_c, headers)) and not all(map(is_c, headers)), headers
    chosen = headers if options.every else list(filter(is_c, headers))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() if options.every else 1) as pool:
        reasons = pool.map(lambda header: explain(header, options), chosen)
        faults = {header: reason for header, reason in zip(chosen, reasons) if reason}
    for header, reason in faults.items():
        print(f"{header} does not compile alone:\n{reason}")
    print(f"{len(chosen)} of {len(headers)} headers, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
