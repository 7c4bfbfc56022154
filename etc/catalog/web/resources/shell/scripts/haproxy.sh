#!/bin/sh
# HAProxy in front of the web nodes. Config: haproxy.port, haproxy.stats_port (0: no page), haproxy.backends
# (HOST:PORT,...).
set -eu

UNIT=haproxy.service
CONF=/etc/haproxy/haproxy.cfg
PORT=${CONFIG_HAPROXY_PORT:-80}
STATS=${CONFIG_HAPROXY_STATS_PORT:-0}

say() { printf '%s: %s\n' "$SERVICE" "$*"; }
fail() { printf '%s on %s: %s\n' "$SERVICE" "$NODE_HOSTNAME" "$*" >&2; exit 1; }

# put FILE MODE OWNER: makes stdin the content of FILE in one step. A file with that content keeps its age.
put() {
    (umask 077 && cat >"$1.new")
    chown "$3" "$1.new"
    chmod "$2" "$1.new"
    if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; say "wrote $1"; fi
}

# within SECONDS COMMAND...: repeats the command until it succeeds, about so long.
within() {
    tries=$(($1 * 5)); shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.2
    done
}

apt_get() {
    DEBIAN_FRONTEND=noninteractive apt-get -y -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 \
        -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}

# packages NAME...: installs them, unless all are there. $UNIT stays masked meanwhile: only START starts a service.
# The second try is for stale package lists and for an installation that was cut off.
packages() {
    [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$@" 2>/dev/null | grep -cx installed)" -lt $# ] || {
        say "already installed: $*"
        return
    }
    systemctl -q mask --runtime "$UNIT" 2>/dev/null
    apt_get install --no-install-recommends "$@" || {
        dpkg --configure -a --force-confdef --force-confold
        apt_get update
        apt_get install --no-install-recommends "$@"
    } || fail "could not install $*: check that the node reaches its Debian mirror (/etc/apt), then retry"
    systemctl -q unmask --runtime "$UNIT"
    say "installed: $*"
}

# broken WHAT: ends with WHAT and the unit's last lines.
broken() {
    journalctl -u "$UNIT" -n 20 --no-pager -o cat >&2 || :
    fail "$1; its last lines are above, all of them in 'journalctl -u $UNIT'"
}

# rest_unit: $UNIT stands still, now and after a reboot.
rest_unit() {
    if systemctl cat "$UNIT" >/dev/null 2>&1; then systemctl -q disable --now "$UNIT"; fi
}

# The answer comes from a web node, so this is true only when the way to one is open.
answers() { curl -fsS -m 3 "http://127.0.0.1:$PORT/health"; }

stats() {
    [ "$STATS" = 0 ] || printf 'frontend stats\n    bind :%s\n    stats enable\n    stats uri /\n    stats refresh 5s\n' "$STATS"
}

# Names of web nodes are looked up when HAProxy starts or reloads. One that has no address yet counts as down
# (init-addr none), so the file may be written before all machines are there.
configure() {
    [ -n "${CONFIG_HAPROXY_BACKENDS:-}" ] ||
        fail "haproxy.backends is empty: set it to \"%join(map(host.service.nginx,'\$:80'),',')%\" in the cluster's configuration"
    {
        cat <<HAPROXY
global
    log /dev/log local0
    user haproxy
    group haproxy
    maxconn 2000
defaults
    mode http
    option httplog
    option forwardfor
    option redispatch
    log global
    retries 3
    timeout connect 2s
    timeout client 30s
    timeout server 30s
    timeout check 5s
    default-server check inter 1s fall 2 rise 1 init-addr libc,none
$(stats)
frontend web
    bind :$PORT
    default_backend nodes
backend nodes
    balance roundrobin
    option httpchk GET /health
HAPROXY
        printf '%s\n' "$CONFIG_HAPROXY_BACKENDS" | tr ',' '\n' | while IFS= read -r address; do
            echo "    server ${address%%[.:]*} $address"
        done
    } | put "$CONF" 0644 root:root
    haproxy -c -q -f "$CONF" || fail "HAProxy refuses $CONF (its reason is above): correct haproxy.* of the configuration"
}

case ${1:-} in
    install) packages haproxy curl ;;
    configure) configure ;;
    start)
        # Reload, not restart: it looks names up again, and requests under way are finished.
        systemctl -q enable "$UNIT"
        systemctl reload-or-restart "$UNIT" || broken 'HAProxy does not start'
        within 20 answers || broken "no web node answers through HAProxy on port $PORT"
        say "answers on port $PORT"
        ;;
    stop) rest_unit ;;
    remove)
        rest_unit
        apt_get purge haproxy
        rm -rf /etc/haproxy
        ;;
    probe) answers >/dev/null || fail "no web node answers through HAProxy on port $PORT" ;;
    smoke)
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            curl -fsS -m 5 -o /dev/null "http://127.0.0.1:$PORT/" || fail "a page was not answered on port $PORT"
        done
        say "20 pages answered on port $PORT"
        ;;
    *) fail "there is no action '${1:-}': use install, configure, start, stop, remove or probe" ;;
esac
