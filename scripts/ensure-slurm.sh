#!/bin/sh
# Makes sure that a Slurm of two nodes on this machine answers, for tests, and prints the file that names it. Needs root.
# Usage: export SLURM_CONF=$(scripts/ensure-slurm.sh [FOLDER])
#        scripts/ensure-slurm.sh --stop [FOLDER]
set -eu
stop=
[ "${1:-}" != --stop ] || { stop=yes; shift; }
folder=${1:-/tmp/assay-slurm}
export SLURM_CONF="$folder/slurm.conf"

answers() { [ -e "$SLURM_CONF" ] && [ "$(sinfo --noheader --states=idle,mixed,alloc --format=%D 2> /dev/null)" = 2 ]; }

end() {
    for name in slurmd-n1 slurmd-n2 slurmctld; do
        [ -e "$folder/$name.pid" ] || continue
        pid=$(cat "$folder/$name.pid")
        kill "$pid" 2> /dev/null || continue
        for _ in 1 2 3 4 5 6 7 8 9 10; do # it writes its state at its end
            [ -e "/proc/$pid/exe" ] || break
            sleep 0.5
        done
    done
}

[ -z "$stop" ] || { end; exit; }
# Each job has a socket in there, FOLDER/spool-n1/n1_JOB.4294967291, whose path may have 107 bytes.
[ "${#folder}" -le 75 ] || { echo "ensure-slurm: '$folder' is too long: name a folder with at most 75 characters" >&2; exit 1; }
answers || {
    command -v slurmctld > /dev/null || sudo apt-get install -qy --no-install-recommends slurm-wlm > /dev/null
    end
    rm -rf "$folder/state" "$folder/spool-n1" "$folder/spool-n2" "$folder"/*.log
    mkdir -p "$folder/state"
    host=$(hostname -s)
    port=${ASSAY_SLURM_PORT:-17817} # and the two after it
    # No munge, no accounting, no control groups. A requeued job may start after 5 seconds, not after two minutes.
    cat > "$SLURM_CONF" << CONF
ClusterName=assay
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
GresTypes=gpu
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=1,sched_interval=5
ReturnToService=2
SlurmdTimeout=20
KillWait=10
SlurmctldPort=$port
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd-%n.log
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=4 RealMemory=4000 Gres=gpu:2
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=4 RealMemory=4000 Gres=gpu:2
PartitionName=cpu Nodes=n1,n2 Default=YES
CONF
    touch "$folder/card1" "$folder/card2" # what the nodes have in place of cards
    echo "NodeName=n[1-2] Name=gpu File=$folder/card[1-2]" > "$folder/gres.conf"
    slurmctld -f "$SLURM_CONF"
    slurmd -f "$SLURM_CONF" -N n1
    slurmd -f "$SLURM_CONF" -N n2
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        ! answers || break
        sleep 1
    done
    answers || { cat "$folder"/*.log >&2; end; exit 1; }
}
echo "$SLURM_CONF"
