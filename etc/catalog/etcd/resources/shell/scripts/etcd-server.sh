#!/bin/sh
# The etcd program and its client. The members that run it are etcd-member.sh's.
set -eu

UNIT=etcd.service

say() { printf '%s: %s\n' "$SERVICE" "$*"; }
fail() { printf '%s on %s: %s\n' "$SERVICE" "$NODE_HOSTNAME" "$*" >&2; exit 1; }

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

case ${1:-} in
    install) packages etcd-server etcd-client curl ;;
    remove)
        if systemctl cat "$UNIT" >/dev/null 2>&1; then systemctl -q disable --now "$UNIT"; fi
        apt_get purge etcd-server etcd-client
        ;;
    *) fail "there is no action '${1:-}': use install or remove" ;;
esac
