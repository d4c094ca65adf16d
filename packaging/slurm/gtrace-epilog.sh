#!/bin/sh
# Epilog= of slurm.conf: what happened to the GPUs of a job goes to its record, as the administrator's comment, and into a file beside its
# output, OUTPUT.gtrace. A job without incidents gets neither.
set -u
export PATH="${PATH:-/usr/bin}:/usr/bin:/bin:/usr/sbin:/sbin"
[ -n "${SLURM_JOB_ID:-}" ] || exit 0
# How scontrol names a task of an array.
job_id=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID:-}}
job_id=${job_id:-$SLURM_JOB_ID}

# Incidents that affected this job, each a line of JSON.
found=$(timeout 60 gtrace incidents --json --since 30d --limit 1000 2>/dev/null | grep -F "\"slurm:$SLURM_JOB_ID\"")
[ -n "$found" ] || exit 0
ids=$(printf '%s\n' "$found" | sed -n 's/^{"id":"\([0-9A-Z]*\)".*/\1/p')
titles=$(printf '%s\n' "$found" | sed -n 's/.*"title":"\([^"]*\)".*/\1/p' | head -n 3 | paste -s -d ';')
count=$(printf '%s\n' "$ids" | wc -l)

job=$(timeout 20 scontrol --oneliner show job "$job_id" 2>/dev/null | head -n 1)
timeout 20 scontrol update jobid="$job_id" admincomment="gtrace: incidents $(printf '%s' "$ids" | paste -s -d ' ') on ${SLURMD_NODENAME:-$(hostname -s)}: $titles" ||
    echo "gtrace: the comment of job $SLURM_JOB_ID was not changed" >&2

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
