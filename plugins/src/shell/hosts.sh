# Puts the names of the cluster's nodes (the file `hosts` beside this one) into /etc/hosts, in a marked block of its own.
# Sourced before a script, under the lock that keeps executions on one machine apart.
{
	sed '/^# cooperage: begin$/,/^# cooperage: end$/d' /etc/hosts
	echo '# cooperage: begin'
	cat ./hosts
	echo '# cooperage: end'
} >./etc-hosts
# Unchanged names need no write. `cat` instead of `mv`: in some containers /etc/hosts is a mount of its own.
cmp -s ./etc-hosts /etc/hosts || cat ./etc-hosts >/etc/hosts
rm -f ./etc-hosts
