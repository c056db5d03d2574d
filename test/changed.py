"""The tests that a change may affect, for a pull request: `lit --param changed=FILE`, of a file
with a path a line."""

import lit.formats
from groups import find_left_out, matches


class Changed(lit.formats.ShTest):
    def __init__(self, path, **options):
        super().__init__(**options)
        with open(path, encoding="utf-8") as file:
            self.left_out = find_left_out(file.read().splitlines())

    def getTestsForPath(self, *arguments):
        for test in super().getTestsForPath(*arguments):
            if not matches("/".join(test.path_in_suite), self.left_out):
                yield test
