"""Compares runs of fad-opt by a server (test/tool_server.py) with runs that load it, and checks how
clients, runs and servers end.

usage: check_tool_server.py PROGRAMS LIBRARY CLIENTS FOLDER"""

import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import tool_server

FUNCTION = "func.func @f(%x: f32) -> f32 { return %x : f32 }\n"
WRONG = "func.func @f(%x: f32) -> f64 { return %x : f32 }\n"


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def run(program, arguments, text, folder, **options):
    result = subprocess.run(
        [program, *arguments], cwd=folder, input=text, capture_output=True, text=True, **options
    )
    written = sorted((file.name, file.read_text()) for file in folder.glob("out*"))
    for name, _ in written:
        (folder / name).unlink()
    return result.returncode, result.stdout, result.stderr, written


def find_runs(server):
    """The runs that have their client's input, and so its whole request: one that ends before is
    the client's to repeat."""
    children = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children")
    return [
        int(number)
        for number in children.read_text().split()
        if os.readlink(f"/proc/{number}/fd/0").startswith("pipe:")
    ]


def wait_until(condition):
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.1)
    return False


def main():
    programs, library, clients, folder = sys.argv[1:]
    folder = pathlib.Path(folder)
    (folder / "in.mlir").write_text(FUNCTION)
    servers = tool_server.ToolServers()
    servers.start_tools(programs, library)
    served = {**os.environ, "FAD_TOOL_SERVERS": servers.prefix}
    cases = [
        (["in.mlir"], "", {}),
        ([], FUNCTION, {}),
        ([], WRONG, {}),
        (["missing.mlir"], "", {}),
        (["in.mlir", "-o", "out.mlir"], "", {}),
        (["in.mlir", "-o", "out.mlir"], "", {"umask": 0o77}),
        (["in.mlir", "-o", "out.mlir"], "", {"preexec_fn": limit_file_size}),
        (["--no-such-option"], "", {}),
    ]
    wrong = 0
    for arguments, text, options in cases:
        own = run(f"{programs}/fad-opt", arguments, text, folder, **options)
        other = run(f"{clients}/fad-opt", arguments, text, folder, env=served, **options)
        if own != other:
            wrong += 1
            print(arguments, own, other, sep="\n")
    print(f"{len(cases)} runs, {wrong} wrong")

    def start():
        return subprocess.Popen(
            [f"{clients}/fad-opt"], env=served, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )

    server = servers.processes["fad-opt"]
    client = start()
    wait_until(lambda: find_runs(server))
    client.send_signal(signal.SIGTERM)
    client.wait()
    wait_until(lambda: not find_runs(server))
    print("without its client:", len(find_runs(server)), "runs")
    client = start()
    wait_until(lambda: find_runs(server))
    os.kill(*find_runs(server), signal.SIGSEGV)
    print("a crash:", signal.Signals(-client.wait()).name)
    os.close(servers.pipe)
    print("without the pipe:", [each.wait(60) for each in servers.processes.values()])
    print("without a server:", run(f"{clients}/fad-opt", ["in.mlir"], "", folder, env=served)[0])


if __name__ == "__main__":
    main()
