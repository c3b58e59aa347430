# Completes PROGRAM's commands and flags in fish; other words are names of files.
function __PROGRAM_complete
    set -l typed (commandline -opc)
    set -l found ($typed[1] $typed[2..-1] (commandline -ct) --generate-shell-completion 2>/dev/null)
    if test (count $found) -gt 0
        string replace : \t -- $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c PROGRAM -e
complete -c PROGRAM -f -a '(__PROGRAM_complete)'
