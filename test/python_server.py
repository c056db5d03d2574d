"""Interpreters that have imported what scripts share: numpy and mpmath for `%python` in tests,
fad for `%fad_python`, PyTorch for `%torch_python`, with models of transformers for
`%transformers_python`.

Importing PyTorch, Inductor and fad takes about five seconds of processor time, and numpy a fifth of
one. A server, which tool_server.py starts, does it once, at the first request, and forks a process
for each script. The process has the script's arguments, working directory, environment, limits and
standard streams; its exit status and its signal are those of the client, which is what a test runs
(ToolServer/ToolClient.c).

The server has one thread, so that a fork leaves no lock held. It and its processes end when no
process of lit's holds the other end of its pipe, and a process ends with its client. A process
ends without the interpreter's destruction of modules and their objects, which are the server's
for the most part: that would copy its memory, for a third of a second of processor time. So a
script closes the files that it has written, and reads nothing of `__del__` at its end. Garbage
is collected less often than in an interpreter. A server that is `--whole`, as that of the nightly
tests is, does neither.

A script gets an interpreter of its own where

- the environment differs from the server's in more than `FREE`: many libraries read it when
  they are imported;
- the interpreter has an option, such as `-X`, or its input or a folder is the script;
- the server does not answer.

Signals that a client ignores are not ignored by its script, and all scripts of a server have one seed
of hashes.

Usage: python_server.py [--whole] MODULE ...

FAD_TOOL_SERVER has the numbers of the server's socket and of the pipe."""

import os
import resource
import signal
import socket
import stat
import struct
import sys

from tool_request import NUM_DESCRIPTORS, REQUEST, STATUS

# Variables that may differ between scripts: those that only scripts and fad read, which reads none
# when it is imported, paths of modules but fad's, folders whose names are read at each use, the GPUs,
# which CUDA reads at its first use, and the shell's own.
FREE = {"LC_CTYPE", "LIT_CURRENT_TESTCASE", "OLDPWD", "PWD", "PYTHONPATH", "SHLVL", "_"}
FREE |= {
    "CUDA_VISIBLE_DEVICES",
    "TEMP",
    "TEMPDIR",
    "TMP",
    "TMPDIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
}
FREE_PREFIX = "FAD_"
# The answer to a client that has to run its script itself.
OTHER = -1


def receive(connection, size):
    """Exactly `size` bytes."""
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise EOFError
        data += part
    return data


class Request:
    """A client's wish for a run; `descriptors` are its standard streams and its folder."""

    descriptors = ()

    def receive(self, connection):
        header, self.descriptors, _, _ = socket.recv_fds(connection, REQUEST.size, NUM_DESCRIPTORS)
        header += receive(connection, REQUEST.size - len(header))
        size, number, _, self.umask, *limits = REQUEST.unpack(header)
        self.limits = list(zip(limits[::2], limits[1::2], strict=True))
        strings = os.fsdecode(receive(connection, size)).split("\0")[:-1]
        # The first one is the interpreter's name.
        self.arguments = strings[1:number]
        self.environment = dict(text.split("=", 1) for text in strings[number:])

    def close(self):
        for descriptor in self.descriptors:
            os.close(descriptor)

    def has_script(self):
        """Whether it is a script, a command or a module, without options of the interpreter."""
        if not self.arguments:
            return False
        first = self.arguments[0]
        if first in {"-c", "-m"}:
            return len(self.arguments) > 1
        try:
            mode = os.stat(first, dir_fd=self.descriptors[-1]).st_mode
        except OSError:
            return False
        return not stat.S_ISDIR(mode) and not first.startswith("-")


def fixed(environment):
    """The part of an environment that scripts have to share with the server."""
    return {
        name: value
        for name, value in environment.items()
        if name not in FREE and not name.startswith(FREE_PREFIX)
    }


class Server:
    def __init__(self, listener, pipe, imports, whole):
        import selectors

        self.imports = imports
        self.whole = whole
        self.selectors = selectors
        self.listener = listener
        self.pipe = pipe
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ, self.accept)
        self.selector.register(pipe, selectors.EVENT_READ, self.end)
        # By number of process: what says that it has ended, and its client.
        self.children = {}
        self.warm = False
        self.environment = dict(os.environ)
        # Variables that the imports add to it, as they would in the script.
        self.added = {}

    def serve(self):
        """Returns in each process that is to run a script, and never in the server's."""
        while True:
            for key, _ in self.selector.select():
                # An event before it may have closed this one, and reused its number.
                if self.selector.get_map().get(key.fd) is key and key.data():
                    return

    def end(self):
        for number in self.children:
            kill(number)
        sys.exit(0)

    def accept(self):
        """Whether this is the process that is to run a client's script."""
        connection, _ = self.listener.accept()
        credentials = connection.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
        )
        if struct.unpack("3i", credentials)[1] != os.getuid():
            connection.close()
            return False
        request = Request()
        try:
            connection.settimeout(60)
            request.receive(connection)
            if len(request.descriptors) == NUM_DESCRIPTORS and (
                fixed(request.environment) == fixed(self.environment) and request.has_script()
            ):
                return self.fork(connection, request)
            connection.sendall(STATUS.pack(OTHER))
        except (OSError, EOFError, ValueError, struct.error) as error:
            print(f"python_server.py: {error!r}", file=sys.stderr)
        finally:
            request.close()
        connection.close()
        return False

    def prepare(self):
        """Imports what scripts share; the threads of BLAS end at the first fork."""
        import gc
        import importlib
        import weakref

        for name in self.imports:
            importlib.import_module(name)
        self.added = dict(os.environ.items() - self.environment.items())
        # Fails here, before there is a script's process, where the system has no such handles.
        os.close(os.pidfd_open(os.getpid()))
        number = os.fork()
        if not number:
            os._exit(0)
        os.waitpid(number, 0)
        threads = os.listdir("/proc/self/task")
        if len(threads) != 1:
            raise SystemExit(f"python_server.py: {len(threads)} threads, after {self.imports}")
        # Objects that are here stay: collections do not touch, hence not copy, them.
        gc.collect()
        gc.freeze()
        if not self.whole:
            # Compilers make many objects that last.
            gc.set_threshold(50_000, 20, 100)
            # PyTorch's libraries of operators need not be taken apart at each end.
            for finalizer in list(weakref.finalize._registry):
                finalizer.atexit = False
        self.warm = True

    def fork(self, connection, request):
        if not self.warm:
            self.prepare()
        number = os.fork()
        if not number:
            try:
                self.leave(connection)
                request.environment.update(self.added)
                set_up(request)
            except BaseException as error:
                sys.excepthook(type(error), error, error.__traceback__)
                os._exit(127)
            return True
        try:
            handle = os.pidfd_open(number)
        except OSError:
            # The client runs the script itself.
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
            raise
        self.children[number] = handle, connection
        connection.settimeout(None)
        self.selector.register(handle, self.selectors.EVENT_READ, lambda: self.report(number))
        self.selector.register(connection, self.selectors.EVENT_READ, lambda: kill(number))
        return False

    def leave(self, connection):
        """Closes all that is the server's, in a process for a script."""
        os.setsid()
        self.selector.close()
        self.listener.close()
        os.close(self.pipe)
        connection.close()
        for handle, other in self.children.values():
            os.close(handle)
            other.close()

    def report(self, number):
        """Tells a client how its process has ended."""
        handle, connection = self.children.pop(number)
        _, status = os.waitpid(number, 0)
        self.selector.unregister(handle)
        self.selector.unregister(connection)
        os.close(handle)
        try:
            connection.sendall(STATUS.pack(status))
        except OSError:
            pass  # The client is gone.
        connection.close()


def kill(number):
    """Ends a process and those that it has started, whose client is gone."""
    for end in [os.killpg, os.kill]:
        try:
            end(number, signal.SIGKILL)
        except ProcessLookupError:
            pass


def set_up(request):
    """Gives this process what an interpreter has when it starts."""
    import tempfile

    *streams, folder = request.descriptors
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
    os.fchdir(folder)
    os.umask(request.umask)
    for number, limits in enumerate(request.limits):
        if resource.prlimit(0, number) != limits:
            resource.setrlimit(number, limits)
    tempfile.tempdir = None
    former = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    os.environ.clear()
    os.environ.update(request.environment)
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    # The first is the server's own folder.
    sys.path[:] = paths + sys.path[1 + len(former) :]
    sys.stdin = sys.__stdin__ = open(0, closefd=False, errors=sys.__stdin__.errors)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    sys.argv = request.arguments


def run_to_end():
    """Runs a script and ends its process as an interpreter ends, but for the destruction of objects."""
    try:
        run()
        status = 0
    except SystemExit as end:
        status = end.code
        if status is None:
            status = 0
        elif not isinstance(status, int):
            sys.stdout.flush()
            print(status, file=sys.stderr)
            status = 1
    if not finish():
        status = 120
    os._exit(status & 0xFF)


def finish():
    """Does what an interpreter does at its end, and tells whether all is written."""
    import atexit
    import ctypes
    import threading

    threading._shutdown()
    atexit._run_exitfuncs()
    is_written = True
    for stream in [sys.stdout, sys.stderr]:
        try:
            if not stream.closed:
                stream.flush()
        except (OSError, ValueError):
            is_written = False
    # Those of C, of all streams.
    ctypes.CDLL(None).fflush(None)
    return is_written


def run():
    """Runs a script, a command or a module as the interpreter would."""
    import builtins
    import types

    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    try:
        if sys.argv[0] == "-m":
            import runpy

            module = sys.argv.pop(1)
            sys.path.insert(0, os.getcwd())
            runpy._run_module_as_main(module)
        elif sys.argv[0] == "-c":
            sys.path.insert(0, "")
            exec(compile(sys.argv.pop(1), "<string>", "exec"), main.__dict__)
        else:
            sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv[0])))
            main.__file__ = os.path.abspath(sys.argv[0])
            with open(sys.argv[0], "rb") as file:
                code = compile(file.read(), main.__file__, "exec")
            exec(code, main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        # The trace begins in the script.
        error = error.with_traceback(error.__traceback__.tb_next)
        sys.excepthook(type(error), error, error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            finish()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        sys.exit(1)


def main():
    imports = sys.argv[1:]
    whole = imports[:1] == ["--whole"]
    listener, pipe = map(int, os.environ["FAD_TOOL_SERVER"].split(","))
    Server(socket.socket(fileno=listener), pipe, imports[whole:], whole).serve()
    (run if whole else run_to_end)()


if __name__ == "__main__":
    main()
