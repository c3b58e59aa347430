#compdef PROGRAM
# Completes PROGRAM's commands and flags in zsh; other words are names of files.
_PROGRAM() {
	local -a found
	found=("${(@f)$(${~words[1]} "${(@Q)words[2,CURRENT]}" --generate-shell-completion 2>/dev/null)}")
	if [[ -n $found[1] ]]; then
		_describe PROGRAM found
	else
		_files
	fi
}
if [[ $funcstack[1] = _PROGRAM ]]; then
	_PROGRAM "$@"
else
	compdef _PROGRAM PROGRAM
fi
