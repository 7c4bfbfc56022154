# Ends execution $key: asks all its processes to end, and kills those that have not after $grace tenths of a second.
cd "$root/$key" 2>/dev/null || answer cancelled
: >cancelled
if [ ! -s rc ] && [ -s started ] && running; then
  kill -TERM "-$pid"
  while running && [ "$grace" -gt 0 ]; do
    sleep 0.1
    grace=$((grace - 1))
  done
  kill -KILL "-$pid" 2>/dev/null
  [ -s rc ] || echo 137 >rc
fi
answer cancelled
