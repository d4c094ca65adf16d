#!/bin/sh
# Runs as a unit in a virtual machine whose PID 1 is systemd, and says on the second serial port what held of the packages in
# /packages. Every line is `ok NAME` or `FAILED NAME: why`; the last is `end`. One of the other scripts follows.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive
out=/dev/ttyS1

say() { printf '%s\n' "$*" >"$out"; }
# check NAME COMMAND...: the command has to succeed.
check() {
    name=$1
    shift
    if text=$("$@" 2>&1); then
        say "ok $name"
    else
        say "FAILED $name: $(printf '%s' "$text" | tail -n 12 | tr '\n' '|')"
        # What may say why, for the file of the console.
        journalctl --no-pager -b 2>&1 | tail -n 60 >/dev/console
        explain >/dev/console 2>&1
    fi
}
# A script says here what else is of interest when something has failed.
explain() { :; }
# until SECONDS COMMAND...: the command has to succeed within so long.
until_ok() {
    # A command may take long itself.
    limit=$(($(date +%s) + $1))
    shift
    while ! "$@" >/dev/null 2>&1; do
        if [ "$(date +%s)" -ge "$limit" ]; then
            "$@"
            return 1
        fi
        sleep 1
    done
}
install() { dpkg --install --force-confold "$1"; }
finish() {
    say end
    systemctl poweroff --force --force
}
old=$(echo /packages/old/*.deb)
new=$(echo /packages/new/*.deb)
say "system $(. /etc/os-release && echo "$PRETTY_NAME"), kernel $(uname -r), $(systemctl --version | head -n 1)"
