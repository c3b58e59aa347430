# Completes PROGRAM's commands and flags in bash; other words are names of files.
_PROGRAM_complete() {
	local word
	COMPREPLY=()
	while IFS= read -r word; do
		COMPREPLY+=("${word%%:*}")
	done < <("${COMP_WORDS[0]/#\~/$HOME}" "${COMP_WORDS[@]:1:COMP_CWORD}" --generate-shell-completion 2>/dev/null)
}
complete -o bashdefault -o default -F _PROGRAM_complete PROGRAM
