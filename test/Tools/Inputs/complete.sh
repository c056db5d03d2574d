# Prints what bash proposes behind each line of standard input.
#
# Usage: complete.sh FILE [WORDBREAKS], the characters at which bash divides words.
source "$1"
[ $# -lt 2 ] || COMP_WORDBREAKS=$2
while read -r line; do
  COMP_LINE=$line COMP_POINT=${#line} COMPREPLY=()
  _fad_complete "${line%% *}"
  echo "$line|" "${COMPREPLY[@]}"
done
