#!/bin/sh
# Prolog= of slurm.conf: a node that is unhealthy gets no job. README.md says what becomes of the job.
#
# The daemon is asked; where it does not answer, `gtrace scan` looks. The node is drained with what is wrong as the reason.
# One that is only degraded, or of which nobody knows, gets the job.
set -u
export PATH="${PATH:-/usr/bin}:/usr/bin:/bin:/usr/sbin:/sbin"
node=${SLURMD_NODENAME:-$(hostname -s)}

# The state of the host stands before those of its parts.
state_of() { printf '%s' "$1" | sed -n 's/^[^[]*"state":"\([a-z]*\)".*/\1/p' | head -n 1; }
# The first reason of a part that is unhealthy.
reason_of() {
    printf '%s' "$1" | tr '{' '\n' | awk -F'"' '
        /^"part":/ { part = $4; if ($6 == "name") part = part " " $8 }
        /"state":"unhealthy"/ && match($0, /"text":"[^"]*"/) { print part ": " substr($0, RSTART + 8, RLENGTH - 9); exit }'
}

report=$(timeout 20 gtrace health --json 2>/dev/null)
case $(state_of "$report") in
    '' | unknown) report=$(timeout 60 gtrace scan --quiet --json 2>/dev/null) ;;
esac
[ "$(state_of "$report")" = unhealthy ] || exit 0
reason=$(reason_of "$report" | cut -c 1-200)
scontrol update nodename="$node" state=drain reason="gtrace: ${reason:-unhealthy, see gtrace scan}"
exit 1
