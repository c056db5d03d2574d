# Prints what zsh proposes behind each line of standard input, and what it means.
#
# Usage: zsh -f complete.zsh FOLDER, where _fad is in FOLDER.
zmodload zsh/zpty || exit

# What an interactive shell on a terminal reads first. It prints each proposal between two
# null bytes, and ends then.
setup='
  PROMPT= fpath=('${(q)1:a}' $fpath)
  autoload -U compinit && compinit -u -D
  bindkey "^I" complete-word
  bound() { print -n "\0" }
  compprefuncs=(bound)
  comppostfuncs=(bound exit)
  compadd() {
    # What _describe asks for, and not what it shows.
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
      builtin compadd "$@"
      return
    fi
    local -a hits
    builtin compadd -A hits "$@"
    (( $#hits )) && print -rl -- $hits
    builtin compadd "$@"
  }
  print ready'

file=$(mktemp)
print -r -- $setup > $file
while read -r line; do
  zpty shell zsh -f -i
  zpty -w shell "source ${(q)file}"
  zpty -r shell output '*ready*'
  zpty -w -n shell $line$'\t'
  zpty -r shell output $'*\0*\0'
  zpty -d shell
  output=${${output#*$'\0'}%$'\0'*}
  print -r -- "$line|" ${(f)output//$'\r'/}
done
rm -f $file
