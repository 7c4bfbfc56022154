#!/bin/sh
# One member of an etcd store. Config: etcd.members (host names, with commas between), etcd.heartbeat_ms, etcd.election_ms.
#
# A store is founded once, by members that all know each other. Whoever comes later (a new node, or one whose machine was
# lost and made again) joins what is there instead: INITIALIZE finds out which it is.
set -eu

UNIT=etcd.service
DATA=/var/lib/etcd/default
CONF=/etc/default/etcd
JOIN=/etc/default/etcd-join
URL=http://$NODE_IP:2380

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

# broken WHAT: ends with WHAT and the unit's last lines.
broken() {
    journalctl -u "$UNIT" -n 20 --no-pager -o cat >&2 || :
    fail "$1; its last lines are above, all of them in 'journalctl -u $UNIT'"
}

# rest_unit: $UNIT stands still, now and after a reboot.
rest_unit() {
    if systemctl cat "$UNIT" >/dev/null 2>&1; then systemctl -q disable --now "$UNIT"; fi
}

# Members are listed by address, not by name: a member that comes back elsewhere is then known to all through the store.
address_of() { getent ahostsv4 "$1" | awk '{ print $1; exit }'; }

hosts() { echo "$CONFIG_ETCD_MEMBERS" | tr ',' '\n'; }

# all_known: every member's name resolves.
all_known() {
    for host in $(hosts); do
        [ -n "$(address_of "$host")" ] || fail "$host has no address in /etc/hosts yet: retry when its machine is there"
    done
    say "knows the addresses of $(hosts | wc -l) members"
}

configure() {
    put "$CONF" 0644 root:root <<ETCD
ETCD_NAME=$NODE_HOSTNAME
ETCD_DATA_DIR=$DATA
ETCD_LISTEN_PEER_URLS=http://$NODE_IP:2380
ETCD_LISTEN_CLIENT_URLS=http://$NODE_IP:2379,http://127.0.0.1:2379
ETCD_INITIAL_ADVERTISE_PEER_URLS=http://$NODE_IP:2380
ETCD_ADVERTISE_CLIENT_URLS=http://$NODE_IP:2379
ETCD_INITIAL_CLUSTER_TOKEN=cooperage-$CLUSTER_ID
ETCD_HEARTBEAT_INTERVAL=${CONFIG_ETCD_HEARTBEAT_MS:-250}
ETCD_ELECTION_TIMEOUT=${CONFIG_ETCD_ELECTION_MS:-2500}
ETCD_STRICT_RECONFIG_CHECK=false
ETCD
    mkdir -p "/etc/systemd/system/$UNIT.d"
    put "/etc/systemd/system/$UNIT.d/cooperage.conf" 0644 root:root <<UNIT
[Service]
EnvironmentFile=-$JOIN
# Until a quorum is up a member waits, however long the others take.
TimeoutStartSec=infinity
Restart=always
RestartSec=2
UNIT
    systemctl daemon-reload
}

# healthy CLIENT_URL: the member there works, within a quorum.
healthy() { curl -fsS --connect-timeout 1 -m 3 "$1/health" | grep -q '"health": *"true"'; }

# running_member: the address of another member that works within a quorum, if there is one.
running_member() {
    for host in $(hosts); do
        address=$(address_of "$host")
        if [ "$host" != "$NODE_HOSTNAME" ] && [ -n "$address" ] && healthy "http://$address:2379" 2>/dev/null; then
            echo "$address"
            return
        fi
    done
}

# store ADDRESS COMMAND...: asks the store through the member there.
store() {
    at=$1; shift
    ETCDCTL_API=3 etcdctl --endpoints="http://$at:2379" --dial-timeout=3s --command-timeout=10s "$@"
}

# members ADDRESS: lines ID NAME PEER_URL CLIENT_URL of the store there, a dash for what a member that never ran has not told.
members() {
    list=$(store "$1" member list) || return 1
    echo "$list" | awk -F ', ' '{ print $1, ($3 == "" ? "-" : $3), $4, ($5 == "" ? "-" : $5) }'
}

# found: the start of a new store with all members.
found() {
    printf 'ETCD_INITIAL_CLUSTER_STATE=new\nETCD_INITIAL_CLUSTER='
    for host in $(hosts); do printf '%s=http://%s:2380,' "$host" "$(address_of "$host")"; done | sed 's/,$//'
    echo
}

# admit ADDRESS: adds this node to the store there, if the members that work outvote the others with this one not yet there.
# (etcd's own check, switched off above, would want every member to work: two lost ones could then never be replaced.)
admit() {
    members "$1" >"$JOIN.members" || return 1
    all=0 working=0
    while read -r _ _ _ client; do
        all=$((all + 1))
        ! healthy "$client" 2>/dev/null || working=$((working + 1))
    done <"$JOIN.members"
    if [ $((working * 2)) -le $((all + 1)) ]; then
        echo "only $working of $all members work: too few to take in one more" >&2
        return 1
    fi
    store "$1" member add "$NODE_HOSTNAME" --peer-urls="$URL" >/dev/null
}

# make_room ADDRESS: makes the store there expect this node. A member that is expected already (a founder that is late, or
# an earlier try) stays; else what bears this node's name has lost its data, and makes room together with members that
# have left the cluster.
make_room() {
    members "$1" >"$JOIN.members" || return 1
    ! grep -q " $URL -\$" "$JOIN.members" || return 0
    while read -r id name peer _; do
        if [ "$name" = "$NODE_HOSTNAME" ] || { [ "$name" != - ] && ! hosts | grep -qxF "$name"; }; then
            store "$1" member remove "$id" >/dev/null || return 1
            say "removed $name ($peer), which is no more"
        fi
    done <"$JOIN.members"
    within 60 admit "$1" || admit "$1" || return 1
    say 'added this member to the store'
}

# join MEMBERS: the start as a member of a store that is there; all its members must be listed, those that never ran too.
join() {
    echo ETCD_INITIAL_CLUSTER_STATE=existing
    echo "$1" | awk -v me="$NODE_HOSTNAME" -v url="$URL" '
        { printf "%s%s=%s", (NR == 1 ? "ETCD_INITIAL_CLUSTER=" : ","), ($3 == url ? me : $2 == "-" ? "member-" $1 : $2), $3 }
        END { print "" }'
}

# The log appears when the member has been accepted, and not before.
has_data() { [ -d "$DATA/member/wal" ]; }

initialize() {
    if has_data; then
        say "has its data in $DATA"
        return
    fi
    rm -rf "$DATA"
    other=$(running_member)
    if [ -n "$other" ]; then
        if ! make_room "$other" || ! list=$(members "$other"); then
            fail "the store on $other refuses this member (its reason is above): once most members work, retry"
        fi
        rm -f "$JOIN.members"
        join "$list" | put "$JOIN" 0644 root:root
        say "joins the store on $other"
    else
        all_known
        found | put "$JOIN" 0644 root:root
        say "founds a store of $(hosts | wc -l) members"
    fi
}

# up ADDRESS: a member runs there; it answers other members before there is a quorum.
up() { curl -fsS --connect-timeout 1 -m 2 "http://$1:2380/version" >/dev/null; }

# A member works only within a quorum, and the others may start after this one (with a single worker: must). So START
# demands it only once enough of them run: whichever start completes the quorum also proves it.
start() {
    mark=/run/$UNIT.started
    # The store may have changed since INITIALIZE; one that has not let this member in yet is asked anew.
    has_data || initialize
    systemctl -q enable "$UNIT"
    if [ "$(systemctl is-active "$UNIT")" = inactive ] || [ -n "$(find "$CONF" "$JOIN" -newer "$mark" 2>/dev/null || echo new)" ]; then
        touch "$mark.new"
        systemctl reset-failed "$UNIT" 2>/dev/null || :
        systemctl restart --no-block "$UNIT"
        mv "$mark.new" "$mark"
    fi
    within 20 up "$NODE_IP" || broken "etcd does not answer other members on $NODE_IP:2380"
    all=0 running=0
    for host in $(hosts); do
        all=$((all + 1))
        ! up "$(address_of "$host")" 2>/dev/null || running=$((running + 1))
    done
    if [ $((running * 2)) -le "$all" ]; then
        say "runs; $running of $all members are up, and the store works when more than half are"
        return
    fi
    within 60 healthy "http://$NODE_IP:2379" || broken "etcd finds no quorum, though $running of $all members are up"
    say "works on $NODE_IP:2379; $running of $all members are up"
}

rest() {
    if systemctl cat "$UNIT" >/dev/null 2>&1; then systemctl -q disable --now "$UNIT"; fi
}

# Leaves the store, so that it does not count on this member any more.
leave() {
    other=
    ! command -v etcdctl >/dev/null || other=$(running_member)
    [ -z "$other" ] || members "$other" | while read -r id _ peer _; do
        if [ "$peer" = "$URL" ]; then store "$other" member remove "$id"; fi
    done
    rest
    rm -rf "$DATA" "$CONF" "$JOIN" "/etc/systemd/system/$UNIT.d"
    systemctl daemon-reload
}

case ${1:-} in
    install) all_known ;;
    configure) configure ;;
    initialize) initialize ;;
    start) start ;;
    stop) rest ;;
    remove) leave ;;
    *) fail "there is no action '${1:-}': use install, configure, initialize, start, stop or remove" ;;
esac
