"""An end to the time that a run may take."""

import faulthandler
import signal
import time

# Seconds that are left for printing once the time is out, and before the process is ended.
GRACE = 20


class OutOfTime(BaseException):
    """Not an Exception: what survives those of PyTorch and Triton passes this on."""


class Budget:
    def __init__(self, seconds):
        self.seconds, self.start = seconds, time.monotonic()

    def get_spent(self):
        return time.monotonic() - self.start

    def __enter__(self):
        """Within, OutOfTime is raised when the time is out. A device that hangs keeps
        Python from it: then the process ends."""
        self.before = signal.signal(signal.SIGALRM, self.interrupt)
        signal.setitimer(signal.ITIMER_REAL, max(self.seconds - self.get_spent(), 1e-3))
        faulthandler.dump_traceback_later(self.seconds + GRACE, exit=True)
        return self

    def interrupt(self, *_):
        raise OutOfTime

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        faulthandler.cancel_dump_traceback_later()
        return False
