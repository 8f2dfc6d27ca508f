# Runs the command $1 within limits, as the first process of a step of an image build: the kernel shields it from the
# step's other processes, and ends them with it. It exits with the command's status, or with one of `REASONS` in
# harness/engines/build_limits.py, which no command's status becomes.
command=$1 seconds=$2 processes=$3 memory=$4 disk=$5
[ $$ = 1 ] || { echo "assay: this builder's steps have no limits"; exec sh -c "$command"; }
end() { trap - EXIT; exit "$1"; }
trap '[ $? != 2 ] || end 92' EXIT # the shell cannot start a process any more
look_at_processes() {
    set -- /proc/[0-9]*
    [ $# -le "$processes" ] || end 92
    threads=0 own=0 shared=0
    for each; do
        read -r size resident common rest < "$each/statm" && read -r line < "$each/stat" || continue
        set -- ${line##*) }
        threads=$((threads + ${18})) own=$((own + resident - common))
        [ "$common" -le $shared ] || shared=$common
    done
    [ $threads -le "$processes" ] || end 92
    [ $(((own + shared) * page / 1024)) -le $((memory * 1024)) ] || end 93
    while read -r key left rest; do
        case $key in MemTotal:) total=$left ;; MemAvailable:) break ;; esac
    done < /proc/meminfo
    [ $((left * 32)) -ge "$total" ] || end 96
}
read_disk() { set -- $(LC_ALL=C df -Pm /); used=${10:-0} left=${11:-9999}; }
measure_files() { # those that are new, and those that are removed and still open
    {
        places=$(awk '$3 ~ /^(overlay|fuse|ext|xfs|btrfs|zfs)/ { print $2 }' /proc/mounts)
        find $places -xdev -type f -newerct "@$start" -printf '%D:%i %k\n'
        find -L /proc/[0-9]*/fd -maxdepth 1 -type f -links 0 -printf '%D:%i %k\n'
    } | sort -u | awk '{ size += $2 } END { print int(size / 1024) }'
}
look_at_disk() { # other programs fill it, too
    read_disk
    [ "$left" -ge 1024 ] || end 97
    [ "$used" -ge "$last" ] || before=$((before - last + used)) # what they remove hides nothing
    last=$used
    [ $((used - before)) -gt "$disk" ] || return 0
    found=$(measure_files)
    [ "${found:-$disk}" -lt "$disk" ] || end 94
    before=$((used - found))
}
look_at_clock() { read -r now rest < /proc/uptime; now=${now%.*}; }
page=$(getconf PAGESIZE || echo 4096) start=$(date +%s) looks=0 output=/dev/shm/assay-output
look_at_clock; began=$now
read_disk; before=$used last=$used
mkfifo $output
cat < $output & printer=$!
nice -n 19 sh -c "$command" > $output 2>&1 & step=$! # within its container, so that this shell is never kept waiting
exec 2> /dev/null
while kill -0 $step; do
    looks=$((looks + 1)) pause=0.1 printed=0
    [ $looks -gt 20 ] || pause=0.05
    sleep $pause
    look_at_processes
    [ $((looks % 10)) != 0 ] || look_at_disk
    look_at_clock
    [ $((now - began)) -lt "$seconds" ] || end 91
    read -r key printed < /proc/$printer/io
    [ "$printed" -le 67108864 ] || end 95
done
wait $step; code=$?
looks=0
while kill -0 $printer && [ $looks -lt 20 ]; do # what the step left behind may keep it waiting
    looks=$((looks + 1))
    sleep 0.05
done
case $code in 9[1-7]) code=1 ;; esac
end $code
