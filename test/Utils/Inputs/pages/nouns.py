"""Functions whose docstrings begin with a noun or with a verb."""


def find(names):
    """The first of `names`."""
    return names[0]


def is_known(name):
    """Whether there is such a name."""
    return bool(name)


class Row:
    @property
    def name(self):
        """The name of the row."""
        return "row"

    def write(self):
        """Writes the row."""
