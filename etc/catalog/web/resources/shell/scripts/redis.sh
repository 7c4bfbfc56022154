#!/bin/sh
# Redis on the cluster's network. Config: redis.port, redis.password (empty: none), redis.maxmemory.
set -eu

UNIT=redis-server.service
CONF=/etc/redis/cooperage.conf
PORT=${CONFIG_REDIS_PORT:-6379}

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

# run_unit FILE...: $UNIT runs, now and after a reboot, with the files as they are now; left alone if it does already.
run_unit() {
    mark=/run/$UNIT.started
    fresh=$(find "$@" -newer "$mark" 2>/dev/null || echo "no mark")
    if [ -z "$fresh" ] && systemctl -q is-active "$UNIT"; then
        say "$UNIT runs already"
        return
    fi
    touch "$mark.new"
    systemctl -q enable "$UNIT"
    systemctl reset-failed "$UNIT" 2>/dev/null || :
    systemctl restart "$UNIT" || broken "$UNIT does not start"
    mv "$mark.new" "$mark"
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

# The password goes to redis-cli by its environment, where other users cannot read it.
answers() {
    REDISCLI_AUTH=${CONFIG_REDIS_PASSWORD:-} timeout 2 redis-cli -h "$NODE_IP" -p "$PORT" ping | grep -qx PONG
}

configure() {
    case ${CONFIG_REDIS_PASSWORD:-} in
        '') say 'warning: redis.password is empty, so the whole network may read and write' ;;
        change-me-redis) say 'warning: redis.password is the one of the template: set your own' ;;
    esac
    {
        echo "bind 127.0.0.1 $NODE_IP"
        echo "port $PORT"
        echo "maxmemory ${CONFIG_REDIS_MAXMEMORY:-64mb}"
        echo 'appendonly yes'
        if [ -n "${CONFIG_REDIS_PASSWORD:-}" ]; then
            printf 'requirepass "%s"\n' "$(printf %s "$CONFIG_REDIS_PASSWORD" | sed 's/[\\"]/\\&/g')"
        else
            echo 'protected-mode no'
        fi
    } | put "$CONF" 0640 root:redis
    # Last in the file, so that what it says wins.
    grep -qxF "include $CONF" /etc/redis/redis.conf || printf '\ninclude %s\n' "$CONF" >>/etc/redis/redis.conf
}

case ${1:-} in
    install) packages redis-server ;;
    configure) configure ;;
    start)
        run_unit "$CONF"
        within 30 answers || broken "Redis does not answer on $NODE_IP:$PORT"
        say "answers on $NODE_IP:$PORT"
        ;;
    stop) rest_unit ;;
    remove)
        rest_unit
        apt_get purge redis-server redis-tools
        rm -rf /etc/redis /var/lib/redis
        ;;
    probe) answers >/dev/null || fail "Redis does not answer on $NODE_IP:$PORT" ;;
    backup)
        mkdir -p /var/backups/redis
        file=/var/backups/redis/$(date -u +%Y%m%dT%H%M%SZ).rdb
        REDISCLI_AUTH=${CONFIG_REDIS_PASSWORD:-} redis-cli -h "$NODE_IP" -p "$PORT" --rdb "$file" >/dev/null ||
            fail "Redis gave no copy of what it holds"
        # shellcheck disable=SC2012 # names of our own making
        ls -1t /var/backups/redis/*.rdb | tail -n +8 | xargs -r rm --
        say "wrote $file"
        ;;
    *) fail "there is no action '${1:-}': use install, configure, start, stop, remove or probe" ;;
esac
