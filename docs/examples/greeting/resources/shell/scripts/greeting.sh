#!/bin/sh
# A page that greets. Config: greeting.port, greeting.text. Nothing is downloaded: systemd listens, and starts a script of a few
# lines for each visitor.
set -eu

UNITS=/etc/systemd/system
PROGRAM=/usr/local/lib/greeting

fail() { printf '%s on %s: %s\n' "$SERVICE" "$NODE_HOSTNAME" "$*" >&2; exit 1; }

# put FILE MODE: makes stdin the content of FILE in one step, so that a power cut leaves the old one or the new one.
put() { cat >"$1.new" && chmod "$2" "$1.new" && mv "$1.new" "$1"; }

# Whether the page is there, and is this node's. Only bash opens connections by itself.
is_well() {
    timeout 5 bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf "GET / HTTP/1.0\r\n\r\n" >&3 && cat <&3' \
        ask "$NODE_IP" "$CONFIG_GREETING_PORT" 2>/dev/null | grep -qxF "$NODE_HOSTNAME"
}

case ${1:-} in
    install)
        put "$PROGRAM" 0755 <<-'END'
		#!/bin/sh
		# The head of the request ends with an empty line.
		while read -r line && [ "$line" != "$(printf '\r')" ]; do :; done
		printf 'HTTP/1.0 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n'
		cat /etc/greeting
		END
        put "$UNITS/greeting@.service" 0644 <<-END
		[Service]
		ExecStart=$PROGRAM
		StandardInput=socket
		DynamicUser=yes
		END
        ;;
    configure)
        printf '%s\n%s\n' "$NODE_HOSTNAME" "$CONFIG_GREETING_TEXT" | put /etc/greeting 0644
        put "$UNITS/greeting.socket" 0644 <<-END
		[Socket]
		ListenStream=$NODE_IP:$CONFIG_GREETING_PORT
		Accept=yes
		[Install]
		WantedBy=sockets.target
		END
        ;;
    start)
        systemctl daemon-reload
        systemctl -q enable greeting.socket
        systemctl restart greeting.socket || fail "port $CONFIG_GREETING_PORT cannot be listened on; give another as greeting.port"
        is_well || fail "does not answer on $NODE_IP:$CONFIG_GREETING_PORT; see 'journalctl -u greeting.socket'"
        echo "answers on $NODE_IP:$CONFIG_GREETING_PORT"
        ;;
    stop) systemctl disable --now greeting.socket 2>/dev/null || : ;;
    remove)
        systemctl disable --now greeting.socket 2>/dev/null || :
        rm -f "$UNITS/greeting.socket" "$UNITS/greeting@.service" "$PROGRAM" /etc/greeting
        systemctl daemon-reload
        ;;
    probe) is_well || fail "does not answer on $NODE_IP:$CONFIG_GREETING_PORT" ;;
    *) fail "there is no action '${1:-}'" ;;
esac
