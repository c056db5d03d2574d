"""The tests that a build of three programs can run."""

import re

import lit.formats


class Sample(lit.formats.ShTest):
    """The .mlir files that need nothing but fad-opt, fad-runner, fad-memory-report
    and upstream's programs. A sample is a debug build, the only one that many machines make."""

    needs_more = re.compile(
        r"REQUIRES:(?! *debug *$)|(RUN|DEFINE):.*(%python|%check|%cxx|%fad|%llvm|%mlir|fad-translate)",
        re.MULTILINE,
    )

    def getTestsForPath(self, *arguments):
        for test in super().getTestsForPath(*arguments):
            if test.getSourcePath().endswith(".mlir"):
                with open(test.getSourcePath(), encoding="utf-8") as file:
                    if not self.needs_more.search(file.read()):
                        yield test
