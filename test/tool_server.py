"""Programs that are loaded already: `fad-opt` and `fad-runner` in tests.

To load MLIR's and LLVM's libraries takes most of the time of a small test. A server, which
lit.cfg.py starts, does it once for each program (ToolServer/ToolServer.c), and runs the program for
clients that have its name (ToolServer/ToolClient.c)."""

import os
import socket
import subprocess

TOOLS = ["fad-opt", "fad-runner"]


def start(tools_dir, library):
    """Starts the servers for this process and those that it forks, with whose last they end; returns
    the value of FAD_TOOL_SERVERS for clients, the end of the pipe, and the servers' processes."""
    prefix = f"fad-tools-{os.getpid()}-{os.urandom(8).hex()}"
    read, write = os.pipe()
    servers = []
    for tool in TOOLS:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"\0{prefix}-{tool}")
            listener.listen(64)
            numbers = listener.fileno(), read
            server = subprocess.Popen(
                [os.path.join(tools_dir, tool)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={"LD_PRELOAD": library, "FAD_TOOL_SERVER": "{},{}".format(*numbers)},
                pass_fds=numbers,
                start_new_session=True,
            )
            servers.append(server)
    os.close(read)
    return prefix, write, servers
