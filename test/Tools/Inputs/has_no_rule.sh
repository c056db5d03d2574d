#!/bin/sh
# Whether nesting the module in the file $1 fails for want of a rule: fad-reduce takes
# a status other than 0 for yes. FAD_OPT is the program.
"$FAD_OPT" "$1" --fad-nest 2>&1 | grep -q "has no derivative rule" && exit 1
exit 0
