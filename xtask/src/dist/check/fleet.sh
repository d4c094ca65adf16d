# A fleet of one host as docs/fleet.md sets it up: PostgreSQL and three NATS servers of the distribution, the head's unit, the daemon as
# the agent. Names and addresses are those of other hosts, on the loopback device.
files=/usr/share/doc/gtrace/examples/fleet
url=https://head.example.com:7481
explain() {
    for unit in gtrace-head gtrace 'nats*' n2 'postgresql*'; do
        journalctl --no-pager -b -u "$unit" | tail -n 30
    done
}

addresses() {
    i=1
    for name in n1 n2 n3 db head; do
        ip address add "192.0.2.$i/32" dev lo
        echo "192.0.2.$i $name.example.com" >>/etc/hosts
        i=$((i + 1))
    done
}
# certificate NAME: /tls/NAME.pem and .key, by the authority /tls/ca.pem.
certificate() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "/tls/$1.key" -out /tls/request -subj "/CN=$1" &&
        printf 'subjectAltName=DNS:%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$1" >/tls/extensions &&
        openssl x509 -req -in /tls/request -CA /tls/ca.pem -CAkey /tls/ca.key -CAcreateserial -days 2 -extfile /tls/extensions -out "/tls/$1.pem"
}
certificates() {
    mkdir -p /tls
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /tls/ca.key -out /tls/ca.pem -days 2 -subj /CN=authority || return 1
    for name in n1 n2 n3 db head; do
        certificate "$name.example.com" || return 1
    done
}
sql() { (cd / && runuser -u postgres -- psql -q -v ON_ERROR_STOP=1 "$@"); }
database() {
    to=$(echo /etc/postgresql/*/main)
    command install -o postgres -g postgres -m 0600 /tls/db.example.com.key "$to/db.key"
    command install -o postgres -g postgres -m 0644 /tls/db.example.com.pem "$to/db.pem"
    cat >>"$to/postgresql.conf" <<EOF
listen_addresses = 'db.example.com'
ssl = on
ssl_cert_file = '$to/db.pem'
ssl_key_file = '$to/db.key'
EOF
    echo 'hostssl gtrace gtrace-head 192.0.2.0/24 scram-sha-256' >>"$to/pg_hba.conf"
    systemctl restart postgresql && until_ok 60 sql -c 'SELECT 1' || return 1
    sql -c "CREATE ROLE \"gtrace-head\" LOGIN PASSWORD 'secret'" && sql -c 'CREATE DATABASE gtrace OWNER "gtrace-head"'
}
# A head on the server's own machine: PostgreSQL knows its user.
without_password() { (cd / && runuser -u gtrace-head -- psql -h /run/postgresql -tA -c 'SELECT 1' gtrace); }
# nats_server N: its configuration is the package's, with its own name and address. Routes to other addresses of the same host and the
# same port are its own to a server, so that each has another port.
nats_server() {
    mkdir -p "/etc/nats$1" && command install -d -o nats -g nats -m 0700 "/var/lib/nats$1" &&
        command install -m 0644 "/tls/n$1.example.com.pem" "/etc/nats$1/server.pem" &&
        command install -o root -g nats -m 0640 "/tls/n$1.example.com.key" "/etc/nats$1/server.key" &&
        command install -m 0644 /tls/ca.pem "/etc/nats$1/ca.pem" &&
        sed -e "s/^server_name: .*/server_name: \"n$1.example.com\"/" -e "s/0\.0\.0\.0/n$1.example.com/" -e "s/127\.0\.0\.1:8222/127.0.0.$1:8222/" \
            -e 's/n2.example.com:6222/n2.example.com:6223/' -e 's/n3.example.com:6222/n3.example.com:6224/' \
            -e "s,/etc/nats/,/etc/nats$1/," -e "s,/var/lib/nats,/var/lib/nats$1," -e 's/100GB/100MB/' "$files/nats-server.conf" >"/etc/nats$1.conf"
}
nats() {
    for n in 1 2 3; do
        nats_server $n || return 1
    done
    mv /etc/nats1.conf /etc/nats-server.conf && systemctl restart nats-server &&
        systemd-run --unit=n2 -p User=nats nats-server -c /etc/nats2.conf &&
        systemd-run --unit=n3 -p User=nats nats-server -c /etc/nats3.conf
}
# The files of a head, which it may read by its group.
head_files() {
    cp /tls/head.example.com.pem /etc/gtrace/head/head.pem &&
        command install -m 0640 /tls/head.example.com.key /etc/gtrace/head/head.key &&
        cp /tls/ca.pem /etc/gtrace/head/ca.pem &&
        (umask 027 && echo head:CHANGE-head >/etc/gtrace/head/nats.creds) || return 1
    [ "$(stat -c '%U:%G %a' /etc/gtrace/head/head.key)" = 'root:gtrace-head 640' ] || { stat /etc/gtrace/head/head.key; return 1; }
    [ "$(stat -c '%U:%G %a' /etc/gtrace/head.env)" = 'root:root 600' ] || { stat /etc/gtrace/head.env; return 1; }
    cat >>/etc/gtrace/head.env <<'EOF'
GTRACE_HEAD_OPTIONS="--listen-https 0.0.0.0:7481 --tls-cert /etc/gtrace/head/head.pem --tls-key /etc/gtrace/head/head.key --nats-credentials /etc/gtrace/head/nats.creds --nats-ca /etc/gtrace/head/ca.pem --nats-replicas 3"
GTRACE_HEAD_DATABASE=postgresql://gtrace-head:secret@db.example.com/gtrace?sslrootcert=/etc/gtrace/head/ca.pem
GTRACE_HEAD_NATS=nats://n1.example.com,n2.example.com,n3.example.com
EOF
}
head_starts() { systemctl enable --now gtrace-head && systemctl is-active gtrace-head; }
head_pid() { systemctl show -p MainPID --value gtrace-head; }
head_without_rights() {
    main=$(head_pid)
    [ "$(ps -o user= -p "$main" 2>/dev/null || stat -c %U "/proc/$main")" = gtrace-head ] || return 1
    grep -q '^CapBnd:[[:space:]]*0*$' "/proc/$main/status" && grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$main/status"
}
over_tls() {
    of=$(sql -tA -c "SELECT count(*) || ' ' || count(*) FILTER (WHERE ssl AND version = 'TLSv1.3') FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'gtrace-head'")
    say "connections of the head to PostgreSQL, and those of TLS 1.3: $of"
    [ "${of% *}" = "${of#* }" ] && [ "${of% *}" -gt 0 ]
}
token() {
    (umask 077 && gtrace token new oncall --role operate --credentials /etc/gtrace/head/credentials.toml >/root/token) || return 1
    [ "$(stat -c '%G %a' /etc/gtrace/head/credentials.toml)" = 'gtrace-head 640' ]
}
fleet() { what=$1 && shift && gtrace fleet "$what" --head "$url" --token-file /root/token --ca /tls/ca.pem "$@"; }
enrolled() {
    join=$(gtrace head token) && gtrace agent enroll --head "$url" --ca /tls/ca.pem --token "$join" --host gpu-01.example.com
}
# The daemon's unit lets it reach this host alone, until a site opens it.
agent() {
    (umask 077 && echo host:CHANGE-host >/etc/gtrace/nats.creds)
    cat >>/etc/gtrace/gtrace.toml <<'EOF'
head = "nats://n1.example.com,n2.example.com,n3.example.com"
head_site = "berlin"
head_nats_credentials = "/etc/gtrace/nats.creds"
head_nats_ca = "/tls/ca.pem"
EOF
    gtrace config check && systemctl restart gtrace
}
explained() { journalctl --no-pager -b -u gtrace | grep 'IPAddressAllow'; }
opened() {
    mkdir -p /etc/systemd/system/gtrace.service.d
    printf '[Service]\nIPAddressAllow=192.0.2.0/24\n' >/etc/systemd/system/gtrace.service.d/head.conf
    systemctl daemon-reload && systemctl restart gtrace
}
arrives() { gtrace inject xid "$1" --gpu 0000:3b:00.0 && until_ok 60 seen "$1"; }
seen() { fleet events --json --since 1d | grep "\"xid\":$1[,}]" | grep -q gpu-01.example.com; }
without_a_server() { systemctl stop nats-server && arrives 48 && systemctl start nats-server; }
database_restarts() { systemctl restart postgresql && arrives 62; }
head_restarts() {
    before=$(head_pid)
    kill -KILL "$before"
    until_ok 30 head_is_another "$before" && arrives 63
}
head_is_another() { [ "$(head_pid)" != "$1" ] && [ "$(head_pid)" != 0 ] && systemctl is-active gtrace-head; }
upgraded() {
    before=$(head_pid)
    install "$new" && until_ok 60 head_is_another "$before" && arrives 64
}
once() {
    fleet events --json --since 1d | grep -c '"kind":"xid"' >/tmp/count
    cat /tmp/count
    [ "$(cat /tmp/count)" -eq 5 ] && fleet verify
}
purged() {
    dpkg --purge gtrace && [ ! -e /var/lib/gtrace-head ] && [ ! -e /etc/gtrace ] && ! grep gtrace /etc/passwd /etc/group
}

check "addresses of other hosts" addresses
check certificates certificates
check "the package is installed" install "$old"
check "PostgreSQL serves over TLS" database
check "its own machine's head needs no password" without_password
check "three NATS servers with the package's configuration" nats
check "the head's files belong to its group" head_files
check "the head starts as a unit" head_starts
check "it has a user of its own and no rights" head_without_rights
check "it reaches PostgreSQL over TLS" over_tls
check "a token of its own" token
check "a host is enrolled" enrolled
check "the daemon is the agent" agent
check "a daemon that may not reach NATS says what to do" until_ok 60 explained
check "it may reach them" opened
check "a fault is at the head" arrives 79
check "a fault without one NATS server" without_a_server
check "a fault after PostgreSQL was started again" database_restarts
check "a fault after the head was killed" head_restarts
check "a fault after an upgrade" upgraded
check "each is there once, and chains are whole" once
check "purge leaves nothing of the head" purged
finish
