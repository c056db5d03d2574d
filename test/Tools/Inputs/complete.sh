# Prints what bash proposes behind each line of standard input.
#
# Usage: complete.sh FILE
source "$1"
while read -r line; do
  COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
  _fad_complete "${line%% *}"
  echo "$line|" "${COMPREPLY[@]}"
done
