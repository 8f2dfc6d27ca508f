"""Limits of image builds: the first process of every RUN step supervises it, in the same way on each builder.

No builder has a limit of its own for all of these, and a client reaches the control groups of none. The kernel shields
a container's first process from all others, and ends them with it. It looks a few times a second, so a step may pass a
limit for a moment.
"""

import json
import re
from dataclasses import astuple, dataclass

SUPERVISOR = r"""
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
    [ "$used" -gt "$before" ] || before=$used
    [ $((used - before)) -gt "$disk" ] || return 0
    found=$(measure_files)
    [ "${found:-$disk}" -lt "$disk" ] || end 94
    before=$((used - found))
}
look_at_clock() { read -r now rest < /proc/uptime; now=${now%.*}; }
page=$(getconf PAGESIZE || echo 4096) start=$(date +%s) looks=0 output=/dev/shm/assay-output
look_at_clock; began=$now
read_disk; before=$used
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
"""
"""Shell text that takes a command and the limits in the order of ``BuildLimits``.

It exits with the command's status, or with a code of ``REASONS`` that no command's status becomes.
"""


@dataclass(frozen=True, slots=True)
class BuildLimits:
    """What one RUN step of an image build may use."""

    seconds: int = 3600
    processes: int = 4096
    """Threads count, too."""
    memory_mb: int = 8192
    disk_mb: int = 20480
    """MB of new files; what is removed and still open counts, too."""

    @property
    def time(self) -> str:
        """The limit of time as a person reads it."""
        return f"{self.seconds:,} s" if self.seconds % 60 else f"{self.seconds // 60:,} min"


USUAL = BuildLimits()
REASONS = {
    91: "took more than {0.time}",
    92: "used more than {0.processes:,} processes",
    93: "used more than {0.memory_mb:,} MB of memory",
    94: "wrote more than {0.disk_mb:,} MB to the disk",
    95: "printed more than 64 MB",
    96: "left less than 3 % of this machine's memory",
    97: "left less than 1,024 MB of the disk",
}
"""What a step did that the supervisor ended, by the status with which it ends."""

_CODE = re.compile(r"(?:exit code:|exit status|non-zero code:) (\d+)\b")
_RUN = re.compile(r"RUN ((?:--\S+ +)*)(.*)", re.DOTALL)


def limit_steps(dockerfile: str, limits: BuildLimits) -> str:
    """Return a Dockerfile whose RUN lines have the supervisor as their first process."""
    lines = re.sub(r"\\\n", "", dockerfile).splitlines()
    return "".join(f"{_limit(line, limits)}\n" for line in lines)


def _limit(line: str, limits: BuildLimits) -> str:
    step = _RUN.fullmatch(line)
    if step is None:
        return line
    words = ["/bin/sh", "-c", SUPERVISOR, "assay", step[2], *map(str, astuple(limits))]
    return f"RUN {step[1]}{json.dumps(words)}"


def drop_supervisor(log: str) -> str:
    """Return a builder's output without the supervisor's text, which builders show with each step."""
    return log.replace(SUPERVISOR, "...").replace(json.dumps(SUPERVISOR)[1:-1], "...")


def name_limit(said: str, limits: BuildLimits) -> str:
    """Name the limit that ended a build, from a step's status as the builder said it; "" if none did."""
    codes = _CODE.findall(said)
    reason = REASONS.get(int(codes[-1])) if codes else None
    return f"the build {reason.format(limits)}" if reason else ""
