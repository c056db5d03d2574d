"""The tests that run in less than half a second."""

import os

import lit.formats


class Quick(lit.formats.ShTest):
    """All but the tests that `.lit_test_times.txt` lists, which are the slower ones.
    lit itself starts with these where no earlier run has left other times."""

    def __init__(self, **options):
        super().__init__(**options)
        path = os.path.join(os.path.dirname(__file__), ".lit_test_times.txt")
        with open(path, encoding="utf-8") as file:
            self.slow = {line.split(maxsplit=1)[1].strip() for line in file}

    def getTestsForPath(self, *arguments):
        for test in super().getTestsForPath(*arguments):
            if "/".join(test.path_in_suite) not in self.slow:
                yield test
