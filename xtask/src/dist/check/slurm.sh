# Slurm of the distribution, really running, with the scripts and the configuration that packaging/slurm/README.md shows.
node=gpu1
user=alice
node_is() { sinfo --noheader --Node --nodes $node --format %T | grep -qx "$1"; }
node_reason() { scontrol --oneliner show node $node | sed -n 's/.* Reason=\(.*\)$/\1/p'; }
drained_by_gtrace() { node_reason | grep -q '^gtrace:' && scontrol --oneliner show node $node | grep -q 'State=[^ ]*DRAIN'; }
resumed_by_gtrace() { ! drained_by_gtrace && node_is idle; }
job_is() { scontrol --oneliner show job "$1" | grep -q "JobState=$2"; }
# What a check found for later ones: `check` runs each in a shell of its own, whose variables end with it.
keep() { printf '%s' "$2" >"/tmp/kept.$1"; }
kept() { cat "/tmp/kept.$1"; }
as_user() { runuser -u $user -- "$@"; }
explain() {
    scontrol show node
    scontrol show job
    tail -n 60 /var/log/slurm/*.log
    gtrace health
}

# The block of the README, with an interval that fits a test.
configuration() {
    hostname $node
    # Slurm resolves names by AI_ADDRCONFIG, which finds nothing on a host that has but 127.0.0.1: it then waits for ever.
    ip address add 10.77.0.1/32 dev lo || return 1
    printf '127.0.0.1 localhost\n10.77.0.1 %s\n' $node >/etc/hosts
    useradd --create-home $user || return 1
    mkdir -p /etc/slurm /var/log/slurm /var/spool/slurmctld /var/spool/slurmd
    chown slurm: /var/spool/slurmctld /var/log/slurm
    # Without the file, slurmstepd of 22.05 looks for control groups in `(null)`.
    echo 'CgroupMountpoint=/sys/fs/cgroup' >/etc/slurm/cgroup.conf
    # Processors and memory as slurmd itself sees them: a node with less than it was said to have is not used.
    hardware=$(slurmd -C | head -n 1 | sed 's/^NodeName=[^ ]* //; s/ RealMemory=[0-9]*//')
    {
        cat <<EOF
ClusterName=check
SlurmctldHost=$node
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
NodeName=$node $hardware RealMemory=512 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
EOF
        sed -n '/^```/,/^```/{/^```/!p}' /usr/share/gtrace/slurm/README.md | sed 's/^HealthCheckInterval=.*/HealthCheckInterval=5/'
    } >/etc/slurm/slurm.conf
    grep -q '^Prolog=/usr/share/gtrace/slurm/gtrace-prolog.sh' /etc/slurm/slurm.conf || return 1
    systemctl start munge && systemctl start slurmctld && systemctl start slurmd
}
simple_job() { as_user srun --chdir /tmp sh -c 'echo "ran on $SLURMD_NODENAME"' | grep -x "ran on $node"; }

# A fault whose line names a process of a job's step: the event has job and step, the incident too.
of_a_job() {
    cat >/tmp/job.sh <<'EOF'
#!/bin/sh
srun sh -c 'echo $$ >/tmp/step.pid.part; mv /tmp/step.pid.part /tmp/step.pid; until [ -e /tmp/step.done ]; do sleep 0.2; done'
EOF
    job=$(as_user sbatch --parsable --chdir /tmp --output '/tmp/job-%j.out' /tmp/job.sh) || return 1
    keep job "$job"
    until_ok 60 test -s /tmp/step.pid || return 1
    gtrace inject xid 79 --gpu 0000:5e:00.0 --pid "$(cat /tmp/step.pid)" --comm sh || return 1
    until_ok 30 event_of_step || return 1
    until_ok 30 incident_of_job || return 1
    # Without accounting Slurm takes it from the health check, while the job runs.
    until_ok 60 comment || return 1
    touch /tmp/step.done
    until_ok 60 job_is "$job" COMPLETED
}
event_of_step() {
    gtrace events --json --since 1h | grep "0000:5e:00.0" | grep -q "slurmstepd.scope/job_$job/step_0" && return
    gtrace events --json --since 1h | tail -n 2
    return 1
}
incident_of_job() { gtrace incidents --json | grep -q "\"slurm:$job\""; }
comment() { scontrol --oneliner show job "$(kept job)" | grep -q 'AdminComment=gtrace: incidents [0-9A-Z]* on gpu1: '; }
commented() {
    until_ok 90 comment || {
        scontrol --oneliner show job "$(kept job)"
        return 1
    }
}
file_beside_output() {
    file=/tmp/job-$(kept job).out.gtrace
    until_ok 30 test -s "$file" || return 1
    grep -q 'Xid 79' "$file" || return 1
    [ "$(stat -c %U:%a "$file")" = "$user:600" ] || { stat "$file"; return 1; }
}
no_comment_without_incident() {
    clean=$(as_user sbatch --parsable --chdir /tmp --output '/tmp/job-%j.out' --wrap true) || return 1
    until_ok 60 job_is "$clean" COMPLETED || return 1
    [ ! -e "/tmp/job-$clean.out.gtrace" ] && ! scontrol --oneliner show job "$clean" | grep -q AdminComment
}

# A host that lacks a GPU of its baseline, and nobody but `gtrace scan` to say so.
refuses() {
    systemctl stop gtrace || return 1
    mv /var/lib/gtrace /var/lib/gtrace.aside
    printf '[host]\ngpus = 1\n' >/etc/gtrace/baseline.toml
    refused=$(as_user sbatch --parsable --chdir /tmp --output '/tmp/job-%j.out' --wrap 'echo ran') || return 1
    keep refused "$refused"
    until_ok 90 drained_by_gtrace || return 1
    node_reason
    node_reason | grep -q '^gtrace: host: gpus 0, expected 1' || return 1
    until_ok 30 job_is "$refused" PENDING && [ ! -e "/tmp/job-$refused.out" ]
}
resumes() {
    rm /etc/gtrace/baseline.toml
    rm -rf /var/lib/gtrace && mv /var/lib/gtrace.aside /var/lib/gtrace
    systemctl start gtrace || return 1
    until_ok 120 resumed_by_gtrace || return 1
    refused=$(kept refused)
    # Slurm gives a job that it queued again a start time of its own.
    scontrol update jobid="$refused" starttime=now || true
    until_ok 180 job_is "$refused" COMPLETED && grep -qx ran "/tmp/job-$refused.out"
}
# A drain that somebody else has asked for stays.
leaves_others_alone() {
    scontrol update nodename=$node state=drain reason='new cables' || return 1
    sleep 12
    node_reason | grep -q '^new cables' && scontrol update nodename=$node state=resume && until_ok 30 node_is idle
}
# A job whose CUDA calls go to the CPU emulator of a server, as they would to a GPU of another host.
remote_gpu() {
    systemd-run --quiet --unit gtrace-emulator /usr/bin/gtrace serve --softgpu --listen 127.0.0.1:7471 || return 1
    until_ok 30 bash -c ': >/dev/tcp/127.0.0.1/7471' || return 1
    as_user env XDG_CACHE_HOME=/tmp/cache-$user srun --chdir /tmp gtrace bench remote --remote 127.0.0.1:7471 --link tcp --short --json >/tmp/bench.json || return 1
    grep -q '"cpu_emulator": *true' /tmp/bench.json && grep -q 'launch' /tmp/bench.json
}

check install install "$old"
check "the daemon is active" until_ok 30 systemctl is-active gtrace
check "munge, slurmctld and slurmd start with the README's lines" configuration
check "the node becomes idle" until_ok 90 node_is idle
check "a job runs through the prolog" simple_job
check "a fault names job and step" of_a_job
check "the job's record has the incident" commented
check "the epilog writes a file beside the job's output" file_beside_output
check "a job without a fault gets neither" no_comment_without_incident
check "srun uses a remote GPU, the CPU emulator" remote_gpu
check "the prolog refuses an unhealthy node by gtrace scan" refuses
check "the health check resumes it, and the job runs" resumes
check "a drain of somebody else stays" leaves_others_alone
finish
