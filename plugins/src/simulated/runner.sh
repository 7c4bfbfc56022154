# Carries one execution out, in a process that outlives who asked for it; who asks again waits here for its end.
run=$1 machine=$2 lock=$3 log=$4 seconds=$5 code=$6 name=$7 what=$8

say() {
  read -r now _ </proc/uptime
  echo "$1 $now $$ $what" >>"$log"
}
finish() {
  echo "$1" >"$run/rc.new"
  mv "$run/rc.new" "$run/rc"
}

# One process runs the execution, the others wait for it.
exec 8>"$run/lock"
flock 8
[ -s "$run/rc" ] && exit
if [ -s "$run/started" ]; then
  # It began and was killed.
  finish 137
  exit
fi

exec 9>"$lock"
flock -n 9 || { say overlap; flock 9; }
echo $$ >"$run/started"
trap 'say killed; finish 143; exit' TERM
say begin
if [ "$name" = CREATE ] && { [ "$code" -lt 200 ] || [ "$code" -gt 299 ]; }; then
  mkdir -p "$machine"
fi
# What it leaves behind must not hold the locks.
sleep "$seconds" 8>&- 9>&-
if [ "$name" = DELETE ]; then
  [ "$code" -eq 0 ] && rm -rf "$machine"
elif [ "$name" = CREATE ] || [ -d "$machine" ]; then
  [ "$code" -eq 0 ] && echo "$what" >>"$machine/done"
else
  code=90
fi
say end
finish "$code"
