#!/bin/bash
# {{ "Solves" if planned.verb == "solve" else "Evaluates" }} {{ planned.run_id | quoted }} in {{ shards }} shards on Slurm, and merges them. Everything here may be edited.
# Run it with bash, in the folder in which the command line works and which all nodes see.
set -euo pipefail

{% set whole = (planned.runs_dir ~ "/" ~ planned.run_id) | quoted %}
logs={{ planned.runs_dir | quoted }}/.slurm
mkdir -p "$logs"

{% if server %}
# Serves the model to all shards until the merge begins. Its address is in a file that all nodes see.
export MODEL_ADDRESS="$logs"/{{ planned.job_name }}.address
rm -f "$MODEL_ADDRESS"
MODEL_JOB=$(sbatch --parsable --output="$logs/%x-%j.log" << 'JOB'
#!/bin/bash
#SBATCH --job-name={{ planned.job_name }}-server
{% if server_partition %}
#SBATCH --partition={{ server_partition }}
{% endif %}
#SBATCH --time={{ time }}
#SBATCH --nodes=1
#SBATCH --ntasks=1
{% if gpus %}
#SBATCH --gres=gpu:{{ gpus }}
{% endif %}
#SBATCH --cpus-per-task={{ cpus }}
#SBATCH --mem={{ memory }}
#SBATCH --requeue
#SBATCH --open-mode=append
# Two minutes before the time limit it goes back into the queue, and the shards with it.
#SBATCH --signal=B:USR1@120
asked=
trap 'asked=time; kill -TERM "$server"' USR1
trap 'kill -TERM "$server"' TERM
assay cluster serve --address-file "$MODEL_ADDRESS" -- {{ server | quoted }} &
server=$!
while wait "$server"; status=$?; kill -0 "$server" 2> /dev/null; do :; done
[ -z "$asked" ] || scontrol requeue "$SLURM_JOB_ID"
exit "$status"
JOB
)
export MODEL_JOB=${MODEL_JOB%%;*}

{% endif %}
array=$(sbatch --parsable --output="$logs/%x-%A_%a.log"{{ ' --dependency="after:$MODEL_JOB"' if server }} << 'JOB'
#!/bin/bash
#SBATCH --job-name={{ planned.job_name }}
#SBATCH --array=1-{{ shards }}
{% if partition %}
#SBATCH --partition={{ partition }}
{% endif %}
#SBATCH --time={{ time }}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={{ cpus }}
#SBATCH --mem={{ memory }}
{% if planned.gpus %}
#SBATCH --gres=gpu:{{ planned.gpus }}
{% endif %}
#SBATCH --requeue
#SBATCH --open-mode=append
# Two minutes before the time limit: what is finished is saved, and the shard goes back into the queue.
#SBATCH --signal=B:USR1@120
set -uo pipefail
restarts=10 # of a shard at most

# Work is on the node's own disk; what the next job can use stays there.
node=${TMPDIR:-/tmp}
scratch=$(mktemp -d "$node/assay.XXXXXX")
export TMPDIR=$scratch ASSAY_CACHE="${ASSAY_CACHE:-$node/assay-cache-$(id -u)}"
engine='' evaluation='' asked=''
finish() {
    [ -z "$engine" ] || kill "$engine"
    engine=
    rm -rf "$scratch"
}
trap finish EXIT
{% if planned.engine == "docker" %}

# Podman, without root, answers Docker's API on a socket.
if [ -z "${DOCKER_HOST:-}" ]; then
    export XDG_RUNTIME_DIR=$scratch DOCKER_HOST=unix://$scratch/podman.sock
    podman --cgroup-manager cgroupfs --root "$node/assay-images-$(id -u)" --runroot "$scratch/run" \
        system service --time 0 "$DOCKER_HOST" &
    engine=$!
    for _ in {1..60}; do
        [ ! -S "$scratch/podman.sock" ] || break
        sleep 1
    done
fi
{% endif %}

{% if server %}
until [ -s "$MODEL_ADDRESS" ]; do
    [ "$(squeue --noheader --jobs="$MODEL_JOB" 2> /dev/null)" ] || { echo "the model server has ended, see its log"; exit 1; }
    sleep 2
done
OPENAI_BASE_URL=$(cat "$MODEL_ADDRESS")
export OPENAI_BASE_URL

{% endif %}
trap 'asked=time; kill -TERM "$evaluation"' USR1
trap 'asked=end; kill -TERM "$evaluation"' TERM
{{ command }} --shard "$SLURM_ARRAY_TASK_ID/{{ shards }}" &
evaluation=$!
while wait "$evaluation"; status=$?; kill -0 "$evaluation" 2> /dev/null; do :; done # a signal ends wait early
[ -z "$asked" ] || { wait "$evaluation"; status=$?; }

# 3: the infrastructure failed, and the next run tries that again{{ "; so it does after 2, which a model server that starts again causes" if server }}. Over 128: a signal that Slurm did not send.
again=
case $asked:$status in time:[!0]* | {{ ":[23]" if server else ":3" }} | :129 | :13? | :14?) again=yes ;; esac
if [ "$again" ] && [ "${SLURM_RESTART_COUNT:-0}" -lt "$restarts" ]; then
    finish
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" # the last shard's SLURM_JOB_ID is the array's
fi
exit "$status"
JOB
)
array=${array%%;*} # without the name of the cluster

merge=$(sbatch --parsable --output="$logs/%x-%j.log" --dependency="afterany:$array" << 'JOB'
#!/bin/bash
#SBATCH --job-name={{ planned.job_name }}-merge
{% if partition %}
#SBATCH --partition={{ partition }}
{% endif %}
#SBATCH --time=01:00:00
#SBATCH --ntasks=1
#SBATCH --mem=2G
#SBATCH --requeue
{% if server %}
scancel "$MODEL_JOB"
{% endif %}
exec assay report merge {{ whole }}.shard-*-of-{{ shards }} -o {{ whole }}
JOB
) || { scancel "$array"{{ ' "$MODEL_JOB"' if server }}; exit 1; }
echo "array $array {{ "solves" if planned.verb == "solve" else "evaluates" }}, job ${merge%%;*} merges; their output is in $logs"
