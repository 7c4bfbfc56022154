# Starts execution $key, or takes up the one that was started, and shows its output from byte $out_at and $err_at on.
# Answers: complete CODE   it has ended, and all its output was shown
#          partial         it has ended; ask again for output that may be missing
#          interrupted     it began, and something killed it before it had a result
#          refused         it cannot be run here; the reason is on standard error

# Makes the directory of the execution and goes there.
enter() {
  cd "$root/$key" 2>/dev/null && return
  mkdir -p "$root/$key" 2>/dev/null ||
    { sudo -n install -d -m 700 -o "$(id -u)" -g "$(id -g)" "$root" && mkdir -p "$root/$key"; } || return
  cd "$root/$key"
}

# With a result: shows the rest of the output and ends.
finish() {
  [ -s rc ] || return
  read -r code <rc
  [ -s out ] && tail -c "+$((out_at + 1))" out
  [ -s err ] && tail -c "+$((err_at + 1))" err >&2
  answer complete "$code"
}

# Shows the output as it grows, until process $1 ends.
follow() {
  tail -s 0.1 --pid="$1" -c "+$((err_at + 1))" -f err >&2 &
  tail -s 0.1 --pid="$1" -c "+$((out_at + 1))" -f out
  wait
}

# After following: the output that was shown cannot be counted here.
conclude() {
  [ -s rc ] && answer partial
  [ -s started ] && answer interrupted
  command -v flock >&2 && command -v setsid >&2 || echo "flock or setsid is not installed" >&2
  answer refused
}

enter || answer refused
finish
if [ -s started ]; then
  running && follow "$pid"
  conclude
fi

{ read -r prepared <prepared; } 2>/dev/null
if [ "$prepared" != "$this_boot" ]; then
  put_files && : >out && : >err && echo "$this_boot" >prepared || answer refused
fi
setsid sh -c "$runner" cooperage-run "$root" "$keep" </dev/null >/dev/null 2>&1 &
runner_pid=$!

# Most executions are short: processes that follow the output are only started for one that lasts. `wait` ends early
# when the timer's signal comes.
read -r self _ </proc/self/stat
trap : USR1
(while sleep 0.2; do kill -USR1 "$self" || exit; done) >/dev/null 2>&1 &
timer=$!
wait "$runner_pid"
kill "$timer"
if kill -0 "$runner_pid" 2>/dev/null; then
  follow "$runner_pid"
else
  finish
fi
conclude
