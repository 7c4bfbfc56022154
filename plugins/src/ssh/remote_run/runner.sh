# Sees to the execution in whose directory it is started, with nobody to talk to. It survives the connection; $keep executions
# are kept.
see_to_it() {
  # Whatever the connection's end may bring.
  trap : HUP

  # One execution at a time on this machine, whoever asks for it. What the execution leaves behind must not hold the lock.
  exec 9>"$root/lock"
  flock 9 || exit

  # Somebody else who waited here may have run it.
  [ -s rc ] || [ -s started ] && exit
  myself
  echo "$self $since $this_boot" >started
  (carry_out) >>out 2>>err 9>&- &
  wait "$!"
  echo $? >rc
  make_room
}

# Runs the command. Its processes are a group of their own as soon as it says `exec setsid`, before it starts any that stay.
carry_out() {
  myself
  echo "$self" >group

  # Whoever cancels writes `cancelled` first and then looks for `group`: one of the two sees the other.
  [ -e cancelled ] && exit 143
  . ./command
}

# The oldest make room, many at a time. Nothing else runs now: what has begun has also ended.
make_room() {
  cd "$root" || exit
  set -- */
  [ $# -gt "$keep" ] || exit
  excess=$(($# - keep / 2))
  set --
  for old in $(ls -1tr); do
    [ "$excess" -gt 0 ] || break
    [ -s "$old/started" ] || continue
    set -- "$@" "$old"
    excess=$((excess - 1))
  done
  [ $# -eq 0 ] || rm -rf "$@"
}
