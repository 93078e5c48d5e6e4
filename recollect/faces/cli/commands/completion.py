"""`recollect completion`: the script that makes a shell complete commands, options and their values."""

from __future__ import annotations

from recollect.faces.cli.parser import Arguments, Command, WrongUsage
from recollect.faces.cli.terminal.session import Invocation

# Each script hands over the words typed so far, the last of which is to be completed (complete.py), and shows the
# answers: one a line, what it is for behind a tab. Where there are none, a file name is completed.
_SCRIPTS = {
    "bash": """\
_recollect() {
    local IFS=$'\\n'
    COMPREPLY=($(_RECOLLECT_COMPLETE=bash recollect "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _recollect recollect
""",
    "zsh": """\
#compdef recollect
_recollect() {
    local -a answers
    answers=("${(@f)$(_RECOLLECT_COMPLETE=zsh recollect "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${answers[1]}" ]]; then _describe recollect answers; else _files; fi
}
if [[ "$funcstack[1]" == _recollect ]]; then _recollect "$@"; else compdef _recollect recollect; fi
""",
    "fish": """\
function __recollect_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answers (_RECOLLECT_COMPLETE=fish recollect $words[2..] 2>/dev/null)
    if test (count $answers) -gt 0
        printf '%s\\n' $answers
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c recollect -f -a '(__recollect_complete)'
""",
    "powershell": """\
Register-ArgumentCompleter -Native -CommandName recollect -ScriptBlock {
    param($word, $line, $cursor)
    $words = @($line.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($word -eq '') { $words += '""' }
    $env:_RECOLLECT_COMPLETE = 'powershell'
    try { recollect @words | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) } }
    finally { Remove-Item Env:_RECOLLECT_COMPLETE }
}
""",
}

SHELLS = tuple(_SCRIPTS)


def completion(session: Invocation, shell: str) -> int:
    """Print the script that completes commands in your shell.

    It completes commands, options, and values: sources, namespaces, formats, roles, kinds.
    """
    if shell not in _SCRIPTS:
        raise WrongUsage(f"There is no completion for {shell!r}.", hint=f"Use one of: {', '.join(SHELLS)}.")
    if session.json:
        session.out.document({"shell": shell, "script": _SCRIPTS[shell]})
    else:
        session.out.verbatim(_SCRIPTS[shell].rstrip("\n"))
    return 0


COMMAND = Command(
    completion,
    (
        "recollect completion bash >> ~/.bashrc",
        "recollect completion zsh >> ~/.zshrc",
        "recollect completion fish > ~/.config/fish/completions/recollect.fish",
    ),
    words=Arguments("|".join(SHELLS), "shell", required=True, values=SHELLS),
)
