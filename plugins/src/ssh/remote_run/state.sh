# What is known of an execution, in its directory $root/$key:
#   prepared   its files are complete; names the boot of the machine in which they were written
#   out, err   what it has printed so far
#   started    the process that sees to it: number, start time, boot of the machine
#   group      the process that carries it out, and leads the group of all its processes
#   cancelled  nobody wants it any more
#   followed   somebody else than its executor's client waits for its end
#   rc         its exit status: it has ended

# What everything begins with.
begin() {
  umask 077
  read -r this_boot </proc/sys/kernel/random/boot_id
}

# Answers the client, behind a marker it knows, and ends.
answer() {
  printf '\036%s %s\n' "$nonce" "$*"
  exit 0
}

# The number of this process in $self, and its start time in $since.
myself() {
  read -r line </proc/self/stat
  self=${line%% *}
  set -- ${line##*) }
  since=${20}
}

# Whether it has no result yet, and the process named in `started`, now also in $pid, still lives. A number alone would not do:
# numbers come again.
running() {
  [ ! -s rc ] || return 1
  read -r pid since boot <started && [ "$boot" = "$this_boot" ] || return 1
  { read -r line <"/proc/$pid/stat"; } 2>/dev/null || return 1
  set -- ${line##*) }
  [ "${20}" = "$since" ] && [ "$1" != Z ]
}
