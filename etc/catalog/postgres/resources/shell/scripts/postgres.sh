#!/bin/sh
# PostgreSQL as `primary`, or as `replica`: a standby that follows it. Called with role and action.
# Config: postgres.port, .network, .primary (host name), .replicas (how many), .standby_name, .database, .user, .password,
# .replication_password.
set -eu

ROLE=${1:-}
PORT=${CONFIG_POSTGRES_PORT:-5432}
NETWORK=${CONFIG_POSTGRES_NETWORK:-samenet}
PASSFILE=/var/lib/postgresql/.pgpass
PRIMARY="host=${CONFIG_POSTGRES_PRIMARY:-} port=$PORT user=replicator passfile=$PASSFILE connect_timeout=5"
# The newest version installed; none before INSTALL.
VERSION=$(find /usr/lib/postgresql -mindepth 1 -maxdepth 1 -printf '%f\n' 2>/dev/null | sort -V | tail -n 1)
BIN=/usr/lib/postgresql/$VERSION/bin
ETC=/etc/postgresql/$VERSION/main
DATA=/var/lib/postgresql/$VERSION/main
# Written here and not by Debian's pg_createcluster, which a crash may leave half done.
CONF=$ETC/postgresql.conf
UNIT=postgresql@$VERSION-main.service

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

# packages NAME...: installs them, unless all are there.
# The second try is for stale package lists and for an installation that was cut off.
packages() {
    [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$@" 2>/dev/null | grep -cx installed)" -lt $# ] || {
        say "already installed: $*"
        return
    }
    apt_get install --no-install-recommends "$@" || {
        dpkg --configure -a --force-confdef --force-confold
        apt_get update
        apt_get install --no-install-recommends "$@"
    } || fail "could not install $*: check that the node reaches its Debian mirror (/etc/apt), then retry"
    say "installed: $*"
}


# As the user postgres, from a directory that user may enter.
as_postgres() { (cd / && exec runuser -u postgres -- "$@"); }

# true_here SQL: whether the server here answers the query with t.
true_here() { [ "$(as_postgres timeout 5 psql -XAtq -p "$PORT" -d postgres -c "$1")" = t ]; }

broken() {
    tail -n 20 "/var/log/postgresql/postgresql-$VERSION-main.log" >&2 || :
    fail "$1; the last lines of /var/log/postgresql/postgresql-$VERSION-main.log are above"
}

install_server() {
    # INSTALL brings the programs; the data come with INITIALIZE.
    mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' | put /etc/postgresql-common/createcluster.conf 0644 root:root
    packages postgresql
}

configure() {
    case ${CONFIG_POSTGRES_PASSWORD:-}/${CONFIG_POSTGRES_REPLICATION_PASSWORD:-} in
        *change-me-*) say 'warning: postgres.password or .replication_password is the one of the template: set your own' ;;
    esac
    # A standby refuses to start with fewer senders than its primary, so both count alike; below nine standbys
    # the number stays the same, and growing needs no restart.
    senders=$((${CONFIG_POSTGRES_REPLICAS:-0} * 2 + 4))
    [ "$senders" -ge 20 ] || senders=20
    mkdir -p "$ETC"
    {
        echo "data_directory = '$DATA'"
        echo "hba_file = '$ETC/pg_hba.conf'"
        echo "ident_file = '$ETC/pg_ident.conf'"
        echo "external_pid_file = '/run/postgresql/$VERSION-main.pid'"
        echo "cluster_name = '$VERSION/main'"
        echo "listen_addresses = 'localhost,$NODE_IP'"
        echo "port = $PORT"
        echo "log_line_prefix = '%m [%p] %q%u@%d '"
        echo 'wal_level = replica'
        echo "max_wal_senders = $senders"
        # What a standby may miss and still catch up. No replication slots: the one of a lost standby fills the disk.
        echo "wal_keep_size = '256MB'"
        # How soon a standby notices that its primary's machine went away without a word.
        echo "wal_receiver_timeout = '20s'"
        [ "$ROLE" = primary ] ||
            echo "primary_conninfo = '$PRIMARY application_name=${CONFIG_POSTGRES_STANDBY_NAME:-standby}'"
    } | put "$CONF" 0644 root:root
    put "$ETC/pg_ident.conf" 0640 root:postgres </dev/null
    put "$ETC/pg_hba.conf" 0640 root:postgres <<HBA
local all         all                       peer
host  all         postgres   all            reject
host  all         all        127.0.0.1/32   scram-sha-256
host  all         all        $NETWORK       scram-sha-256
host  replication replicator $NETWORK       scram-sha-256
HBA
    [ "$ROLE" = primary ] ||
        printf '*:*:*:replicator:%s\n' "$(printf %s "${CONFIG_POSTGRES_REPLICATION_PASSWORD:-}" | sed 's/[\\:]/\\&/g')" |
        put "$PASSFILE" 0600 postgres:postgres
}

# new_data COMMAND...: the command fills $DATA.new, which then becomes $DATA in one step, so that there is never half of it.
new_data() {
    rm -rf "$DATA.new"
    install -d -o postgres -g postgres "${DATA%/*}"
    as_postgres "$@"
    [ "$ROLE" = primary ] || as_postgres touch "$DATA.new/standby.signal"
    if [ -d "$DATA" ]; then
        rmdir "$DATA" || fail "$DATA holds files but no database: look at them, move them away, then retry"
    fi
    mv "$DATA.new" "$DATA"
    say "made $DATA"
}

# A standby with other data than its primary's is not overwritten: it may be the last copy.
same_system() {
    theirs=$(as_postgres psql -XAt -F ' ' -d "$PRIMARY dbname=postgres replication=true" -c IDENTIFY_SYSTEM | cut -d' ' -f1)
    ours=$(as_postgres "$BIN/pg_controldata" "$DATA" | sed -n 's/^Database system identifier: *//p')
    [ -n "$theirs" ] || fail "the primary on $CONFIG_POSTGRES_PRIMARY:$PORT does not answer: start it, then retry"
    if [ "$ours" != "$theirs" ] || [ ! -e "$DATA/standby.signal" ]; then
        fail "$DATA does not follow $CONFIG_POSTGRES_PRIMARY: save what you need, remove it, then run initialize again"
    fi
    say "$DATA follows the primary already"
}

initialize() {
    if [ "$ROLE" = primary ] && [ ! -e "$DATA/PG_VERSION" ]; then
        new_data "$BIN/initdb" -D "$DATA.new" -E UTF8 --locale=C.UTF-8 -k --auth-local=peer --auth-host=scram-sha-256
    elif [ "$ROLE" = replica ] && [ ! -e "$DATA/PG_VERSION" ]; then
        new_data "$BIN/pg_basebackup" -d "$PRIMARY" -w -D "$DATA.new" -X stream -c fast
    elif [ "$ROLE" = replica ]; then
        same_system
    fi
}

# Psql reads the passwords from its environment: in its arguments everybody could see them.
roles() {
    as_postgres psql -XAtq -v ON_ERROR_STOP=1 -p "$PORT" -d postgres <<'SQL'
\getenv user CONFIG_POSTGRES_USER
\getenv database CONFIG_POSTGRES_DATABASE
\getenv password CONFIG_POSTGRES_PASSWORD
\getenv replication_password CONFIG_POSTGRES_REPLICATION_PASSWORD
SELECT format('CREATE ROLE %I LOGIN', name) FROM (VALUES ('replicator'), (:'user')) AS wanted (name)
    WHERE name NOT IN (SELECT rolname FROM pg_roles) \gexec
ALTER ROLE replicator REPLICATION PASSWORD :'replication_password';
ALTER ROLE :"user" PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I', :'database', :'user')
    WHERE :'database' NOT IN (SELECT datname FROM pg_database) \gexec
SQL
}

start() {
    mark=/run/$UNIT.started
    echo auto | put "$ETC/start.conf" 0644 postgres:postgres
    if systemctl -q is-active "$UNIT" && [ -z "$(find "$CONF" -newer "$mark" 2>/dev/null || echo 'no mark')" ]; then
        systemctl reload "$UNIT"
    else
        touch "$mark.new"
        systemctl restart "$UNIT" || broken 'PostgreSQL does not start'
        mv "$mark.new" "$mark"
    fi
    if [ "$ROLE" = primary ]; then
        within 60 true_here 'SELECT NOT pg_is_in_recovery()' || broken "PostgreSQL does not answer on port $PORT as a primary"
        roles
        say "answers on $NODE_IP:$PORT and takes writes"
    else
        within 60 true_here "SELECT status = 'streaming' FROM pg_stat_wal_receiver" ||
            broken "no stream from the primary on $CONFIG_POSTGRES_PRIMARY:$PORT: is it up, and is postgres.replication_password \
the same there? If it no longer has the WAL that is asked for, remove $DATA and run initialize again"
        say "follows $CONFIG_POSTGRES_PRIMARY and answers queries on $NODE_IP:$PORT"
    fi
}

stop() {
    [ -e "$CONF" ] || return 0
    echo manual | put "$ETC/start.conf" 0644 postgres:postgres
    systemctl stop "$UNIT"
}

case $ROLE in
    primary | replica) ;;
    *) fail "there is no role '$ROLE': use primary or replica" ;;
esac
[ -n "$VERSION" ] || case ${2:-} in
    install | stop | remove) ;;
    *) fail 'PostgreSQL is not installed: run install first' ;;
esac
case ${2:-} in
    install) install_server ;;
    configure) configure ;;
    initialize) initialize ;;
    start) start ;;
    stop) stop ;;
    remove)
        stop
        apt_get purge 'postgresql*'
        rm -rf /var/lib/postgresql /etc/postgresql /etc/postgresql-common /var/log/postgresql
        ;;
    *) fail "there is no action '${2:-}': use install, configure, initialize, start, stop or remove" ;;
esac
