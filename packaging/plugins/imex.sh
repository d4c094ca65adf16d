#!/bin/sh
# Plugin of gtrace (docs/plugins.md) for hosts of a multi-node NVLink system, such as GB200 NVL72: whether the IMEX daemon and its domain are ready.
# For sites where both are to be up all the time. Where each job has a domain of its own, an idle host has none, and this says nothing.
# Source: NVIDIA's IMEX guide (nvidia-imex-ctl); the states are those that DCGM knows.
set -u
export PATH="${PATH:-/usr/bin}:/usr/bin:/bin:/usr/sbin:/sbin"
configuration=/etc/nvidia-imex/config.cfg
[ -z "${IMEX_CONFIGURATION:-}" ] || configuration=$IMEX_CONFIGURATION

command -v nvidia-imex-ctl >/dev/null && [ -r "$configuration" ] || exit 0
nodes=$(sed -n 's/^[[:space:]]*IMEX_NODE_CONFIG_FILE[[:space:]]*=[[:space:]]*//p' "$configuration" | tail -n 1)
# Without nodes there is no domain.
grep -qs '^[[:space:]]*[^#[:space:]]' "${nodes:-/etc/nvidia-imex/nodes_config.cfg}" || exit 0

asks() {
    timeout 4 nvidia-imex-ctl -c "$configuration" "$@" 2>/dev/null
}
daemon=$(asks -q | tail -n 1)
# One that has just been started is not ready yet.
[ "$daemon" = READY ] || {
    sleep 5
    daemon=$(asks -q | tail -n 1)
}
case $daemon in
    READY) echo '{"check":"daemon","state":"healthy"}' ;;
    INITIALIZING | STARTING_AUTH_SERVER | WAITING_FOR_PEERS | WAITING_FOR_RECOVERY | INIT_GPU | SHUTTING_DOWN)
        echo "{\"check\":\"daemon\",\"state\":\"degraded\",\"reason\":\"the IMEX daemon is in state $daemon\"}"
        exit 0
        ;;
    *)
        # It does not run, which the component services judges, or has no command service.
        timeout 4 systemctl --quiet is-active nvidia-imex 2>/dev/null &&
            echo '{"check":"daemon","state":"unknown","reason":"nvidia-imex-ctl has no answer: is IMEX_CMD_ENABLED 1?"}'
        exit 0
        ;;
esac

domain=$(asks -N -j)
# That of the domain comes last; nodes and connections have other words.
state=$(printf '%s\n' "$domain" | grep -o '"status"[[:space:]]*:[[:space:]]*"\(UP\|DOWN\|DEGRADED\)"' | tail -n 1 | cut -d '"' -f 4)
ready=$(printf '%s\n' "$domain" | grep -o '"status"[[:space:]]*:[[:space:]]*"READY"' | wc -l)
metrics="\"metrics\":{\"nodes_ready\":$ready}"
case $state in
    UP) echo "{\"check\":\"domain\",\"state\":\"healthy\",$metrics}" ;;
    DOWN | DEGRADED) echo "{\"check\":\"domain\",\"state\":\"degraded\",\"reason\":\"the IMEX domain is $state\",$metrics}" ;;
    *) echo '{"check":"domain","state":"unknown","reason":"nvidia-imex-ctl does not say how the IMEX domain is"}' ;;
esac
