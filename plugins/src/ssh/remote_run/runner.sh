# Runs the execution in whose directory it is started, detached from every connection. $1 is the directory of all
# executions, $2 how many of them are kept.

# One execution at a time on this machine, whoever asks for it. What the execution leaves behind must not hold the lock.
exec 9>"$1/lock"
flock 9 || exit

# Somebody else who waited here may have run it.
[ -s rc ] || [ -s started ] && exit
read -r boot </proc/sys/kernel/random/boot_id
read -r line </proc/$$/stat
root=$1 keep=$2
set -- ${line##*) }
echo "$$ ${20} $boot" >started

# Whoever cancels writes `cancelled` first and then looks for `started`: one of the two sees the other.
if [ -e cancelled ]; then
  echo 143 >rc
  exit
fi

# A cancel goes to the whole process group; this process stays to write the result.
trap : TERM
sh ./command >>out 2>>err </dev/null 9>&-
echo $? >rc

# The oldest make room, many at a time. Nothing else runs now: what has begun has also ended.
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
