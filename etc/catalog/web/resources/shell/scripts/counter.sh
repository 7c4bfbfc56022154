#!/bin/sh
# The visit counter: a Python program on 127.0.0.1, behind nginx, that counts in Redis.
# Config: counter.port, counter.title, redis.host, redis.port, redis.password.
set -eu

UNIT=counter.service
PROGRAM=/usr/local/lib/counter/counter.py
CONF=/etc/counter.json
PORT=${CONFIG_COUNTER_PORT:-8081}

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

answers() { curl -fsS -m 3 "http://127.0.0.1:$PORT/health"; }

install_program() {
    packages python3 curl
    id counter >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin counter
    mkdir -p "${PROGRAM%/*}"
    put "$PROGRAM" 0755 root:root <<'PYTHON'
#!/usr/bin/env python3
"""Counts visits in Redis. GET / is a page, /count a line "NODE COUNT", /health says whether Redis answers."""
import html
import http.server
import json
import socket
import sys

CONF = json.load(open(sys.argv[1], encoding="utf-8"))


def redis(*commands):
    """Sends commands to Redis over a connection of its own; the last reply, without its type mark."""
    if CONF["password"]:
        commands = (("AUTH", CONF["password"]),) + commands
    with socket.create_connection((CONF["redis_host"], CONF["redis_port"]), timeout=2) as link:
        replies = link.makefile("rb")
        for words in commands:
            words = [word.encode() for word in words]
            link.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
            reply = replies.readline().decode().strip()
            if not reply or reply[0] not in "+:":
                raise OSError(f"Redis refuses {commands[-1][0]}: {reply or 'connection closed'}")
    return reply[1:]


def page(count):
    """The page of this node."""
    title, node = html.escape(CONF["title"]), html.escape(CONF["node"])
    return (f"<!doctype html><title>{title}</title><h1>{title}</h1>"
            f"<p>This page comes from <b>{node}</b>.</p><p>You are visitor number <b>{count}</b>.</p>\n")


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers the three paths."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        """One request: anything Redis refuses is a 503 with the reason."""
        try:
            if self.path == "/":
                self.answer(200, "text/html; charset=utf-8", page(redis(("INCR", "visits"))))
            elif self.path == "/count":
                self.answer(200, "text/plain", f"{CONF['node']} {redis(('INCR', 'visits'))}\n")
            elif self.path == "/health":
                self.answer(200, "text/plain", f"{CONF['node']} {redis(('PING',))}\n")
            else:
                self.answer(404, "text/plain", "There are /, /count and /health.\n")
        except OSError as fault:
            self.answer(503, "text/plain", f"{CONF['node']}: {fault}\n")

    def answer(self, status, kind, text):
        """Writes one response."""
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """nginx keeps the log of requests."""


http.server.ThreadingHTTPServer(("127.0.0.1", CONF["port"]), Handler).serve_forever()
PYTHON
    put "/etc/systemd/system/$UNIT" 0644 root:root <<UNIT
[Unit]
Description=Visit counter
After=network.target
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/bin/python3 $PROGRAM $CONF
User=counter
Restart=always
RestartSec=1
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes

[Install]
WantedBy=multi-user.target
UNIT
    systemctl daemon-reload
}

# Python writes the JSON, so that no title or password can break it.
configure() {
    json=$(python3 - "$NODE_HOSTNAME" "$PORT" <<'PYTHON'
import json, os, sys
get = os.environ.get
print(json.dumps({
    "node": sys.argv[1], "port": int(sys.argv[2]), "title": get("CONFIG_COUNTER_TITLE", "Visits"),
    "redis_host": get("CONFIG_REDIS_HOST", "127.0.0.1"), "redis_port": int(get("CONFIG_REDIS_PORT", "6379")),
    "password": get("CONFIG_REDIS_PASSWORD", ""),
}, indent=2))
PYTHON
    ) || fail 'the configuration is not usable (the reason is above): ports must be numbers'
    printf '%s\n' "$json" | put "$CONF" 0640 root:counter
}

case ${1:-} in
    install) install_program ;;
    configure) configure ;;
    start)
        run_unit "$CONF" "$PROGRAM" "/etc/systemd/system/$UNIT"
        within 20 answers || {
            curl -sS -m 3 "http://127.0.0.1:$PORT/health" >&2 || :
            broken "the counter does not answer on 127.0.0.1:$PORT, or does not reach Redis on ${CONFIG_REDIS_HOST:-127.0.0.1}"
        }
        say "answers on 127.0.0.1:$PORT"
        ;;
    stop) rest_unit ;;
    remove)
        rest_unit
        rm -rf "${PROGRAM%/*}" "$CONF" "/etc/systemd/system/$UNIT"
        systemctl daemon-reload
        ! id counter >/dev/null 2>&1 || userdel counter
        ;;
    probe) answers >/dev/null || fail "the counter does not answer on 127.0.0.1:$PORT" ;;
    *) fail "there is no action '${1:-}': use install, configure, start, stop, remove or probe" ;;
esac
