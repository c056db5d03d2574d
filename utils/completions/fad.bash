# Completion of fad's programs for bash: options, their values, and files. The programs are
# asked for their options, so that these are always those of the program at hand.
#
# `source fad.bash`, or a file of each program's name in a folder of bash-completion, which
# an installation has.

# Prints the options of program $1, one a line, and, for those with a list of values, a line
# for each value: --option=value.
_fad_list_options() {
  "$1" --help 2>/dev/null | awk '
    # An option: --name, --name=<type>, --name <type>. Those further in are of a pass.
    match($0, /^ +--[A-Za-z0-9][A-Za-z0-9_-]*/) {
      name = substr($0, RSTART, RLENGTH)
      takes = substr($0, RSTART + RLENGTH, 1) == "="
      indent = sub(/^ +/, "", name) ? index($0, "-") - 1 : 0
      if (indent > 6)
        name = ""
      else
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
  local program=$1 word=${COMP_LINE:0:COMP_POINT} words
  # Words that bash divides at "=" are one here.
  word=${word##* }
  local prefix=""
  case $word in
    *=*) prefix=${word%%=*}= ;;
  esac
  case $word in
    -*)
      mapfile -t words < <(_fad_list_options "$program" | sort -u)
      mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$word")
      # Only what stands behind "=" is replaced.
      if [[ $prefix && $COMP_WORDBREAKS == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
      elif [[ ${#COMPREPLY[@]} -gt 1 ]]; then
        # Values come once their option stands.
        local all=("${COMPREPLY[@]}")
        mapfile -t COMPREPLY < <(printf '%s\n' "${all[@]}" | sed 's/=.*/=/' | sort -u)
      fi
      [[ ${#COMPREPLY[@]} -ge 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
      ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
  return 0
}

complete -o filenames -F _fad_complete \
  fad-opt fad-runner fad-memory-report fad-translate fad-lsp-server fad-reduce
