# SPDX-FileCopyrightText: The libreach authors
# SPDX-License-Identifier: MIT
#
# Completion for fish.

complete -c reach -f -a '(__fish_print_hostnames)'
complete -c reach -s e -l explain -d 'Add the reason, the interface, the gateway and the source address'
complete -c reach -s h -l help -d 'Print help'
complete -c reach -s j -l json -d 'Print one JSON object a line'
complete -c reach -s n -l no-resolve -d 'Look no name up'
complete -c reach -l offline -d 'Wait for the opposite'
complete -c reach -s p -l pair -d 'Ask for the path between a local and a remote address'
complete -c reach -s q -l quiet -d 'Print nothing'
complete -c reach -s t -l timeout -x -d 'Take no longer than this many seconds'
complete -c reach -s V -l version -d 'Print the version'
complete -c reach -l wait -d 'End as soon as all are online, or after =SECONDS'
complete -c reach -s w -l watch -d 'Tell of each change'
