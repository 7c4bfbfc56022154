#!/bin/sh
# Installs the Debian packages that building, the demo and the tests need, if they are missing. Needs root only then.
set -eu

# Building: a C compiler for the bundled SQLite and libssh2, headers of OpenSSL, zlib and libpq.
# Machines on this host: mmdebstrap, systemd-nspawn, ip, nft and kill. Tests: PostgreSQL, a private sshd, git's list of files, and
# Python and jq for plugins that are programs. The web interface: Node.js with npm, unless there is one from elsewhere, and a
# browser to try it in.
packages="gcc libc6-dev make pkg-config libssl-dev zlib1g-dev libpq-dev mold
 mmdebstrap systemd-container iproute2 nftables procps curl ca-certificates openssh-client
 openssh-server postgresql git python3 jq chromium"
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	packages="$packages nodejs npm"
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
	echo "This is no Debian, so nothing is installed. These are needed, under whatever names they have here: $packages" >&2
	exit 0
fi

missing=""
for package in $packages; do
	if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed"; then
		missing="$missing $package"
	fi
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "These packages are missing:$missing" >&2
	echo "Run this as root, or install them yourself: apt-get install$missing" >&2
	exit 1
fi
# Services that come with the packages stay off: the tests start their own.
policy=/usr/sbin/policy-rc.d
made_policy=""
if [ ! -e "$policy" ]; then
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
	made_policy=yes
fi
trap '[ -z "$made_policy" ] || rm -f "$policy"' EXIT
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # A list of names.
apt-get install -y -qq --no-install-recommends $missing
