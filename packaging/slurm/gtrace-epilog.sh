#!/bin/sh
# Epilog= of slurm.conf: what happened to the GPUs of a job goes to its record, as the administrator's comment, and into a file beside its
# output, OUTPUT.gtrace. A job without incidents gets neither.
set -u
export PATH="${PATH:-/usr/bin}:/usr/bin:/bin:/usr/sbin:/sbin"
[ -n "${SLURM_JOB_ID:-}" ] || exit 0

# Incidents that affected this job, each a line of JSON.
found=$(timeout 60 gtrace incidents --json --since 30d --limit 1000 2>/dev/null | grep -F "\"slurm:$SLURM_JOB_ID\"")
[ -n "$found" ] || exit 0
ids=$(printf '%s\n' "$found" | sed -n 's/^{"id":"\([0-9A-Z]*\)".*/\1/p')
titles=$(printf '%s\n' "$found" | sed -n 's/.*"title":"\([^"]*\)".*/\1/p' | head -n 3 | paste -s -d ';')
count=$(printf '%s\n' "$ids" | wc -l)

job=$(timeout 20 scontrol --oneliner show job "$SLURM_JOB_ID" 2>/dev/null | head -n 1)
# The number of an array's last task is that of the array, whose tasks would all get the comment. It comes before the name that the user
# gives the job, which may look like another's number.
task=$(printf '%s ' "${job%% JobName=*}" | sed -n 's/.* ArrayJobId=\([0-9]*\) ArrayTaskId=\([0-9]*\) .*/\1_\2/p')
# Slurm takes no comment for a job that is ending, but its accounting does. Without accounting the health check has left one while the job ran.
if timeout 20 scontrol show config | grep -q '^AccountingStorageType *= accounting_storage/slurmdbd'; then
    comment="gtrace: incidents $(printf '%s' "$ids" | paste -s -d ' ') on ${SLURMD_NODENAME:-$(hostname -s)}: $titles"
    timeout 20 sacctmgr --immediate --quiet modify job where jobid="${task:-$SLURM_JOB_ID}" set admincomment="$comment" >/dev/null ||
        echo "gtrace: the comment of job $SLURM_JOB_ID was not changed" >&2
fi

output=$(printf '%s' "$job" | sed -n 's/.* StdOut=\([^ ]*\).*/\1/p')
case $output in
    /dev/null | '') exit 0 ;;
esac
uid=${SLURM_JOB_UID:-}
[ -n "$uid" ] || exit 0
# As the job's user: root must not write where somebody else may put a link. A pipe there would hold the epilog up.
{
    echo "gtrace: $count on ${SLURMD_NODENAME:-$(hostname -s)} while job $SLURM_JOB_ID ran"
    for id in $ids; do
        echo
        timeout 10 gtrace incidents show "$id" --color never
    done
} 2>&1 | timeout --kill-after=5 20 setpriv --reuid "$uid" --regid "$(id -g "$uid")" --init-groups -- \
    sh -c 'umask 077; [ ! -e "$1" ] || [ -f "$1" ] || exit 0; cat >>"$1"' sh "$output.gtrace" || true
exit 0
