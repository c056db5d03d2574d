# Completion of fad's programs for bash: options, their values, and files. The programs are
# asked for their options, so that these are always those of the program at hand.
#
# `source fad.bash`, or a file of each program's name in a folder of bash-completion, which
# an installation has.

# Prints the options of program $1, one a line, and, for those with a list of values, a line
# for each value: --option=value. The options of the pass $2 follow it: --pass=option=value.
_fad_list_options() {
  "$1" --help 2>/dev/null | awk -v owner="$2" '
    # An option or a pass: --name, --name=<type>, --name <type>.
    match($0, /^ +--[A-Za-z0-9][A-Za-z0-9_-]*/) {
      indent = index($0, "-") - 1
      name = substr($0, indent + 1, RLENGTH - indent)
      takes = substr($0, RSTART + RLENGTH, 1) == "="
      if (indent != 4 && indent != 8)
        pass = name
      else if (pass == owner) # An option of the pass above.
        name = pass "=" substr(name, 3)
      else
        name = ""
      if (name)
        print name (takes ? "=" : "")
      next
    }
    # A value of the option above: =value.
    match($0, /^ +=[A-Za-z0-9_-]+/) && name {
      value = substr($0, RSTART, RLENGTH)
      sub(/^ +/, "", value)
      print name value
    }'
}

_fad_complete() {
  local program=$1 word=${COMP_LINE:0:COMP_POINT} prefix="" words
  # Words that bash divides at "=" are one here.
  word=${word##* }
  case $word in
    *=*) prefix=${word%=*}= ;;
  esac
  case $word in
    -*)
      mapfile -t words < <(_fad_list_options "$program" "${word%%=*}")
      mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$word")
      # Text behind the next "=" comes once that stands.
      mapfile -t COMPREPLY < <(printf '%s\n' "${COMPREPLY[@]#"$prefix"}" |
        sed '/^$/d; s/=.*/=/' | sort -u)
      # Only what stands behind the last "=" is replaced, where bash divides there.
      [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
      [[ ${#COMPREPLY[@]} -ge 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
      ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
  return 0
}

complete -o filenames -F _fad_complete \
  fad-opt fad-runner fad-memory-report fad-translate fad-lsp-server fad-reduce
