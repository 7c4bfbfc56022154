# Tells the process that asks for execution $key under $nonce to follow the output, if it still does: it belongs to the process
# group $group of the connection's shell.
read -r asking <"$root/$key/asking-$nonce" && read -r line <"/proc/$asking/stat" || exit 0
set -- ${line##*) }
[ "$3" = "$group" ] && kill -USR1 "$asking"
