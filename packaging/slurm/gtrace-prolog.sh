#!/bin/sh
# Prolog= of slurm.conf: a node that is unhealthy gets no job. README.md says what becomes of the job.
#
# The daemon is asked; where it does not answer, `gtrace scan` looks. The node is drained with what is wrong as the reason.
# One that is only degraded, or of which nobody knows, gets the job.
set -u
export PATH="${PATH:-/usr/bin}:/usr/bin:/bin:/usr/sbin:/sbin"
node=${SLURMD_NODENAME:-$(hostname -s)}

# The state of the host stands before those of its parts.
state_of() { sed -n 's/^[^[]*"state":"\([a-z]*\)".*/\1/p' | head -n 1; }

state=$(timeout 20 gtrace health --json 2>/dev/null | state_of)
case $state in
    '' | unknown) state=$(timeout 60 gtrace scan --quiet --json 2>/dev/null | state_of) ;;
esac
[ "$state" = unhealthy ] || exit 0
reason=$(timeout 20 gtrace health --npd 2>/dev/null | head -n 1 | cut -c 1-200)
scontrol update nodename="$node" state=drain reason="gtrace: ${reason:-unhealthy, see gtrace scan}"
exit 1
