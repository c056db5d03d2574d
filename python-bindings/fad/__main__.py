"""Runs the commands of the package: `python -m fad doctor`."""

import argparse
import json
import sys

from . import __version__


def main(arguments: list[str] | None = None) -> int:
    """Runs a command. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m fad", description=__doc__)
    parser.add_argument("--version", action="version", version=f"fad {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser(
        "doctor",
        help="which parts of this machine fad can use",
        description="Prints what fad finds on this machine, and what each missing part "
        "costs and what to do. The exit status is 1 where something is broken.",
    )
    doctor.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)

    # Its checks import whatever there is.
    from ._doctor import examine, format_table

    checks = examine()
    is_ok = all(check.state != "broken" for check in checks)
    if options.json:
        print(json.dumps({"ok": is_ok, "checks": [each.to_dict() for each in checks]}, indent=2))
    else:
        print(format_table(checks))
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())
