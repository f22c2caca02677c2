# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# Completion for bash, as bash-completion loads it: options, and hosts from where it knows hosts.

_reach()
{
    # cword and split are set by _init_completion and so have to be local here.
    # shellcheck disable=SC2034
    local cur prev words cword split
    _init_completion -s -n : || return

    case $prev in
    --timeout | -t)
        return
        ;;
    esac
    case $cur in
    --wait=* | --timeout=*)
        return
        ;;
    -*)
        mapfile -t COMPREPLY < <(compgen -W '--explain --help --json --no-resolve --offline --pair --quiet --timeout=
            --version --wait --wait= --watch' -- "$cur")
        [[ ${COMPREPLY-} == *= ]] && compopt -o nospace
        return
        ;;
    esac
    if [[ " ${words[*]} " == *' --pair '* || " ${words[*]} " == *' -p '* ]]; then
        # Addresses of this machine, and then those of its neighbours.
        mapfile -t COMPREPLY < <(compgen -W "$(ip -o addr show 2>/dev/null | awk '{ sub("/.*", "", $4); print $4 }')
            $(ip neigh show 2>/dev/null | awk '{ print $1 }')" -- "$cur")
        __ltrim_colon_completions "$cur"
    else
        _known_hosts_real -- "$cur"
    fi
} && complete -F _reach reach
