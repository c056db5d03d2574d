"""Counts checks, and prints those that fail."""

import traceback


class Checks:
    def __init__(self):
        self.count, self.wrong = 0, []

    def __call__(self, name, call):
        """Runs a check, which returns whether it holds, or None."""
        self.count += 1
        try:
            if call() is False:
                self.wrong.append(name)
                print("wrong:", name)
        except Exception:
            self.wrong.append(name)
            print("failed:", name)
            traceback.print_exc()

    def finish(self):
        print(f"{self.count} checks, {len(self.wrong)} wrong")
        raise SystemExit(bool(self.wrong))


def raises(text, call):
    """Whether a call fails with a message that has `text`."""
    try:
        call()
    except Exception as error:
        if text in str(error):
            return True
        raise
    return False
