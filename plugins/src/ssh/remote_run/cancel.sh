# Ends execution $key: asks all its processes to end, and kills those that have not after $grace tenths of a second.
cancel() {
  begin
  cd "$root/$key" 2>/dev/null || answer cancelled
  : >cancelled
  if [ ! -s rc ] && [ -s started ] && running; then
    end_group TERM
    while running && [ "$grace" -gt 0 ]; do
      sleep 0.1
      grace=$((grace - 1))
    done
    end_group KILL
    [ -s rc ] || echo 137 >rc
  fi
  answer cancelled
}

# Sends signal $1 to the group, or to its one process where it is none yet.
end_group() {
  { read -r group <group; } 2>/dev/null || return
  kill "-$1" "-$group" 2>/dev/null || kill "-$1" "$group" 2>/dev/null
}
