#!/bin/sh
# HealthCheckProgram= of slurm.conf: drains a node that is unhealthy, by what the daemon knows, and resumes it once it is not. It resumes only what was drained with a reason that begins with `gtrace:`.
# Jobs that run here and have incidents get those as the administrator's comment.
set -u
export PATH="${PATH:-/usr/bin}:/usr/bin:/bin:/usr/sbin:/sbin"
node=${SLURMD_NODENAME:-$(hostname -s)}

# The state of the host stands before those of its parts.
state=$(timeout 20 gtrace health --json 2>/dev/null | sed -n 's/^[^[]*"state":"\([a-z]*\)".*/\1/p' | head -n 1)
case $state in
    healthy | degraded) wanted=resume ;;
    unhealthy) wanted=drain ;;
    # Nobody can say: nothing is changed.
    *) exit 0 ;;
esac
said=$(timeout 20 gtrace health --npd 2>/dev/null | head -n 1 | cut -c 1-200)
shown=$(scontrol --oneliner show node "$node")
# The reason can have names of processes, and those look like other fields.
slurm=$(printf '%s' "${shown%% Reason=*}" | sed -n 's/.* State=\([^ ]*\).*/\1/p')
reason=${shown#* Reason=}
case "$wanted,$slurm" in
    drain,*DRAIN*) ;;
    drain,*) scontrol update nodename="$node" state=drain reason="gtrace: $said" ;;
    resume,*DRAIN*)
        case $reason in
            gtrace:*) scontrol update nodename="$node" state=resume ;;
        esac
        ;;
esac

# Before a job ends: afterwards Slurm without accounting takes none.
found=$(timeout 20 gtrace incidents --json --since 30d --limit 1000 2>/dev/null | grep -F '"slurm:')
[ -n "$found" ] || exit 0
timeout 20 squeue --noheader --nodelist "$node" --states RUNNING --format %A | while read -r job; do
    of_job=$(printf '%s\n' "$found" | grep -F "\"slurm:$job\"") || continue
    ids=$(printf '%s\n' "$of_job" | sed -n 's/^{"id":"\([0-9A-Z]*\)".*/\1/p' | paste -s -d ' ')
    titles=$(printf '%s\n' "$of_job" | sed -n 's/.*"title":"\([^"]*\)".*/\1/p' | head -n 3 | paste -s -d ';')
    comment="gtrace: incidents $ids on $node: $titles"
    timeout 20 scontrol --oneliner show job "$job" | grep -qF "AdminComment=$comment" ||
        timeout 20 scontrol update jobid="$job" admincomment="$comment"
done
exit 0
