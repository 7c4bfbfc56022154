# Starts execution $key, or takes up the one that was started, and shows its output from byte $out_at and $err_at on. What it
# needs comes with the question: `put_files` writes its files into its directory; `program`, if there is one, shows $program, the
# file that is to be executable.
# Answers: complete CODE   it has ended, and all its output was shown
#          partial         it has ended; ask again for output that may be missing
#          interrupted     it began, and something killed it before it had a result
#          refused         it cannot be run here; the reason is on standard error

# Makes the directory of the execution and goes there. Where the directory of all executions is there already (which is for
# the login user alone), one process makes both this one and the program in it.
enter() {
  cd "$root/$key" 2>/dev/null && return
  if [ "$program" ] && [ -d "$root" ] && program | install -D -m 700 /dev/stdin "$root/$key/$program" 2>/dev/null; then
    program=
    cd "$root/$key" && return
  fi
  mkdir -p "$root/$key" 2>/dev/null ||
    { sudo -n install -d -m 700 -o "$(id -u)" -g "$(id -g)" "$root" && mkdir -p "$root/$key"; } || return
  cd "$root/$key"
}

# All its files, but for a program that is there.
prepare() {
  put_files || return
  if [ "$program" ]; then
    program >"$program" && chmod 700 "$program" || return
  fi
  : >out && : >err && echo "$this_boot" >prepared
}

# With a result: shows the rest of the output and ends.
finish() {
  [ -s rc ] || return
  read -r code <rc
  [ -s out ] && tail -c "+$((out_at + 1))" out
  [ -s err ] && tail -c "+$((err_at + 1))" err >&2
  answer complete "$code"
}

# Shows the output as it grows, until process $1 ends. An executor goes on after an execution, unless that was followed: it looks
# for `followed` when there is a result.
follow() {
  : >followed
  [ ! -s rc ] || return
  trap '' USR1
  tail -s 0.1 --pid="$1" -c "+$((err_at + 1))" -f err >&2 &
  tail -s 0.1 --pid="$1" -c "+$((out_at + 1))" -f out
  wait
}

# After following: the output that was shown cannot be counted here.
conclude() {
  [ -s rc ] && answer partial
  [ -s started ] && answer interrupted
  answer refused
}

ask() {
  begin
  enter || answer refused
  finish
  if [ -s started ]; then
    running && follow "$pid"
    conclude
  fi

  command -v flock >/dev/null && command -v setsid >/dev/null || {
    echo "flock or setsid is not installed" >&2
    answer refused
  }
  { read -r prepared <prepared; } 2>/dev/null
  [ "$prepared" = "$this_boot" ] || prepare || answer refused
  (see_to_it) </dev/null >/dev/null 2>&1 &
  seen_to_by=$!

  # Most executions are short: processes that follow the output are only started for one that lasts. The client tells when,
  # by a signal to this process; then `wait` ends early.
  trap : USR1
  myself
  echo "$self" >"asking-$nonce"
  wait "$seen_to_by"
  if kill -0 "$seen_to_by" 2>/dev/null; then
    follow "$seen_to_by"
  else
    finish
  fi
  conclude
}
