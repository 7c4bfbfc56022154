# Puts the names of the cluster's nodes (the file `hosts` beside this one) into /etc/hosts, in a marked block of its own.
# Sourced before a script, under the lock that keeps executions on one machine apart.
{
	sed '/^# cooperage: begin$/,/^# cooperage: end$/d' /etc/hosts
	echo '# cooperage: begin'
	cat ./hosts
	echo '# cooperage: end'
} >./etc-hosts
# Unchanged names need no write. In one step, since programs look names up all the time; only where /etc/hosts is a mount of its
# own, as in some containers, is it written in place.
cmp -s ./etc-hosts /etc/hosts || {
	cp ./etc-hosts /etc/hosts.cooperage && chmod 644 /etc/hosts.cooperage &&
		mv -f /etc/hosts.cooperage /etc/hosts 2>/dev/null
} || {
	rm -f /etc/hosts.cooperage
	cat ./etc-hosts >/etc/hosts
}
rm -f ./etc-hosts
