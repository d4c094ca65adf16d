# Installs, upgrades, downgrades, removes and purges.
state=/var/lib/gtrace
pid() { systemctl show -p MainPID --value gtrace; }
active() { systemctl is-active gtrace; }
events() { gtrace events --json --limit 1000 --since 1d; }

# What the unit's restrictions could break.
working() {
    gtrace status --json >/tmp/status || return 1
    # Nothing that this machine has fails behind the restrictions; what it lacks is absent, which is another state.
    if tr '{' '\n' </tmp/status | grep '"state":"failed"'; then return 1; fi
    for source in printk:console /dev/kmsg; do
        tr '{' '\n' </tmp/status | grep "\"name\":\"$source\"" | grep -q '"state":"active"' || {
            echo "$source is not active: $(tr '{' '\n' </tmp/status | grep "\"name\":\"$source\"")"
            return 1
        }
    done
}
# A fault in the kernel log becomes an event that both sources have seen, and an incident.
captures() {
    gtrace inject xid 79 --gpu "$1" || return 1
    until_ok 30 seen_by_both "$1" || return 1
    until_ok 30 incident_of "$1"
}
seen_by_both() { events | grep "$1" | grep 'printk:console' | grep -q '/dev/kmsg'; }
incident_of() { gtrace incidents --json | grep -q "$1"; }
# There is no HTTP client here but gtrace's own and bash's.
page_gives() {
    bash -c 'exec 3<>/dev/tcp/127.0.0.1/7470 && printf "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" "$0" >&3 && cat <&3' "$1" | grep -q "$2"
}
millis() { echo $(($(date +%s%N) / 1000000)); }
# The time from the package's file to the first event on the page.
first_event() {
    begun=$(millis)
    install "$1" || return 1
    installed=$(millis)
    gtrace inject xid 79 --gpu "$2" || return 1
    until_ok_soon page_gives '/api/v1/events' "$2" || return 1
    shown=$(millis)
    say "the page shows the first event $((shown - begun)) ms after dpkg was given the package, $((installed - begun)) ms of it for the installation"
}
until_ok_soon() {
    n=0
    while ! "$@" >/dev/null 2>&1; do
        n=$((n + 1))
        [ $n -lt 1200 ] || return 1
        sleep 0.05
    done
}
hardened() {
    main=$(pid)
    # CAP_SYS_MODULE, CAP_NET_ADMIN, CAP_SYS_BOOT are gone for good.
    bounding=$(awk '/^CapBnd/ { print $2 }' "/proc/$main/status")
    [ $((0x$bounding & (1 << 16 | 1 << 12 | 1 << 22))) -eq 0 ] || { echo "bounding set $bounding"; return 1; }
    grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$main/status" || return 1
    ! nsenter --target "$main" --mount -- touch /usr/gtrace-writes 2>/dev/null
}
# The profile of the package, where AppArmor is on.
confined() {
    aa-enabled --quiet 2>/dev/null || {
        say "AppArmor is not on: its profile is not checked here"
        return
    }
    is=$(cat "/proc/$(pid)/attr/current")
    [ "$is" = 'gtrace-daemon (enforce)' ] || { echo "the daemon runs as: $is"; return 1; }
}
profile_gone() {
    aa-enabled --quiet 2>/dev/null || return 0
    ! grep '^gtrace-daemon ' /sys/kernel/security/apparmor/profiles
}
restarted_after() {
    before=$1
    until_ok "$2" is_another "$before"
}
is_another() { [ "$(pid)" != "$1" ] && [ "$(pid)" != 0 ] && active; }
watchdog() {
    before=$(pid)
    kill -STOP "$before"
    restarted_after "$before" 90 && journalctl --no-pager -b -u gtrace | grep -qi watchdog
}
crash() {
    before=$(pid)
    # Not SEGV: the first one that is sent, and not caused, only takes away the handler of the standard library.
    kill -ABRT "$before"
    restarted_after "$before" 30
}
# Faults go on while the packages are changed; each names another GPU, so that none is a repeat.
storm() {
    n=0
    while [ ! -e /tmp/calm ]; do
        n=$((n + 1))
        printf '<12>gtrace-inject: NVRM: Xid (PCI:f%03x:00:00): 48, DBE (double bit error) ECC Error\n' "$n" >/dev/kmsg
        printf '%s' "$n" >/tmp/storm
        sleep 0.2
    done
}
none_lost() {
    sent=$(cat /tmp/storm)
    until_ok 30 has_all "$sent"
}
has_all() {
    found=$(events | grep -c '"xid":48')
    echo "$found of $1"
    [ "$found" -eq "$1" ]
}
upgrade() {
    before=$(pid)
    printf '\n# a change of the site\n' >>/etc/gtrace/gtrace.toml
    rm -f /tmp/calm
    storm &
    sleep 2
    install "$1" || return 1
    sleep 2
    touch /tmp/calm
    wait
    [ "$(pid)" != "$before" ] || { echo "not restarted"; return 1; }
    active || return 1
    grep -q 'a change of the site' /etc/gtrace/gtrace.toml
}
store_is_whole() { gtrace events --verify >/tmp/verify 2>&1 || { tail -n 3 /tmp/verify; return 1; }; }
activation() {
    # As packaging/gtrace.socket says: systemd does not take sockets for a service that runs.
    systemctl stop gtrace && systemctl enable --now gtrace.socket && systemctl start gtrace || return 1
    before=$(pid)
    systemctl stop gtrace.service
    # The socket is still there: who asks starts the daemon.
    # On a slow machine it may answer later than the command waits.
    gtrace status >/dev/null 2>&1
    until_ok 30 is_another "$before" || return 1
    systemctl disable --now gtrace.socket && systemctl restart gtrace && active
}
serves() {
    mkdir -p /run/systemd/system/gtrace-serve.service.d
    cat >/run/systemd/system/gtrace-serve.service.d/emulator.conf <<'EOF'
[Service]
ExecStart=
ExecStart=/usr/bin/gtrace serve --softgpu --listen 127.0.0.1:7471 --listen unix:%t/gtrace-serve/serve.sock --socket-mode 666 --image-cache %C/gtrace-serve
EOF
    systemctl daemon-reload && systemctl start gtrace-serve || return 1
    XDG_CACHE_HOME=/tmp/cache gtrace exec --remote unix:/run/gtrace-serve/serve.sock -- true || return 1
    gtrace status --remote || return 1
    systemctl stop gtrace-serve
    rm -r /run/systemd/system/gtrace-serve.service.d
    systemctl daemon-reload
}
# The unit of a head: a user of its own, a host, a fault of it.
heads() {
    systemctl start gtrace-head || return 1
    main=$(systemctl show -p MainPID --value gtrace-head)
    [ "$(stat -c %U "/proc/$main")" = gtrace-head ] || { echo "it runs as $(stat -c %U "/proc/$main")"; return 1; }
    grep -q '^CapBnd:[[:space:]]*0*$' "/proc/$main/status" || return 1
    gtrace agent enroll --head http://127.0.0.1:7480 --token "$(gtrace head token)" --credential /tmp/head.json || return 1
    gtrace agent run --credential /tmp/head.json >/tmp/agent.log 2>&1 &
    agent=$!
    until_ok 30 at_head
    held=$?
    kill $agent
    wait
    return $held
}
at_head() { gtrace fleet events --json --since 1d | grep -q '"xid":79'; }
removed() {
    ! systemctl is-active gtrace && ! systemctl is-active gtrace-head && [ -e /var/lib/gtrace-head/fleet.db ] && [ ! -e /usr/bin/gtrace ] && [ -e "$state/store.db" ] && [ -e /etc/gtrace/gtrace.toml ]
}
# Files that have the name of the package, wherever they are.
left() {
    # The journal, the list of packages and what this check itself brought are not the package's.
    # /run and /dev are file systems of their own.
    find / /run /dev -xdev \( -path /proc -o -path /sys -o -path /packages -o -path /tmp -o -path /var/log \) -prune -o \
        -iname '*gtrace*' ! -name '*gtrace-check.service*' -print
    [ ! -d /sys/fs/bpf ] || find /sys/fs/bpf -iname '*gtrace*'
    systemctl list-unit-files --no-legend | grep gtrace | grep -v gtrace-check
    grep gtrace /etc/passwd /etc/group
    dpkg -l gtrace 2>/dev/null | grep '^.[^n] ' | grep gtrace
    true
}
nothing_left() {
    left >/tmp/left
    cat /tmp/left
    [ ! -s /tmp/left ]
}

check install first_event "$old" 0000:3b:00.0
check "the daemon is active" active
check "it starts at boot" systemctl is-enabled gtrace
check "sources work behind the unit's restrictions" until_ok 30 working
check "a fault becomes an event and an incident" captures 0000:3b:00.0
check "the page answers" page_gives / '<html'
check "rights are given up" hardened
check "the AppArmor profile is enforced" confined
check "the manual page is there" test -e /usr/share/man/man1/gtrace.1.gz
check "completions are there" test -e /usr/share/bash-completion/completions/gtrace
check "a crash restarts it" crash
check "the watchdog restarts it" watchdog
check "systemd holds its sockets" activation
check "GPUs are served by a user without rights" serves
check "a head serves as a user without rights" heads
check upgrade upgrade "$new"
check "the AppArmor profile is enforced after it" confined
check "no event was lost over the upgrade" none_lost
check "the store is whole" store_is_whole
check downgrade install "$old"
check "the daemon is active after it" active
check "the store is whole after it" store_is_whole
check remove dpkg --remove gtrace
check "what is the site's stays" removed
check "install again" install "$new"
check "earlier events are there" seen_by_both 0000:3b:00.0
check purge dpkg --purge gtrace
check "purge leaves nothing" nothing_left
check "purge unloads the AppArmor profile" profile_gone
finish
