#!/bin/sh
# nginx as a web node: in front of the counter where the cluster has one, else with a page of its own.
# Config: nginx.port, counter.nodes, counter.port, counter.title.
set -eu

UNIT=nginx.service
CONF=/etc/nginx/conf.d/cooperage.conf
PAGES=/var/www/cooperage
PORT=${CONFIG_NGINX_PORT:-80}

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

answers() { curl -fsS -m 2 "http://127.0.0.1:$PORT/health"; }

escape() { sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'; }

configure() {
    mkdir -p "$PAGES"
    printf '<!doctype html><title>%s</title><p>This page comes from <b>%s</b>.</p>\n' \
        "$(printf %s "${CONFIG_COUNTER_TITLE:-$NODE_HOSTNAME}" | escape)" "$NODE_HOSTNAME" |
        put "$PAGES/index.html" 0644 root:root
    # counter.nodes is %num.service.counter%: 0 when the cluster has no counter.
    if [ "${CONFIG_COUNTER_NODES:-0}" = 0 ]; then
        content="root $PAGES;"
    else
        content="proxy_pass http://127.0.0.1:${CONFIG_COUNTER_PORT:-8081}; proxy_connect_timeout 2s; proxy_read_timeout 5s;"
    fi
    put "$CONF" 0644 root:root <<NGINX
server {
    listen $PORT default_server;
    server_name _;
    server_tokens off;
    add_header X-Node $NODE_HOSTNAME always;
    location = /health { default_type text/plain; return 200 "$NODE_HOSTNAME\n"; }
    location / { $content }
}
NGINX
    # Debian's welcome page wants to be the default server too.
    rm -f /etc/nginx/sites-enabled/default
    nginx -t -q || fail "nginx refuses $CONF (its reason is above): correct nginx.* of the cluster's configuration"
}

case ${1:-} in
    install) packages nginx curl ;;
    configure) configure ;;
    start)
        # Reload, not restart: requests under way are finished.
        systemctl -q enable "$UNIT"
        systemctl reload-or-restart "$UNIT" || broken 'nginx does not start'
        within 20 answers || broken "nginx does not answer on port $PORT"
        say "answers on port $PORT"
        ;;
    stop) rest_unit ;;
    remove)
        rest_unit
        apt_get purge nginx nginx-common
        rm -rf "$PAGES" /etc/nginx
        ;;
    probe) answers >/dev/null || fail "nginx does not answer on port $PORT" ;;
    *) fail "there is no action '${1:-}': use install, configure, start, stop, remove or probe" ;;
esac
