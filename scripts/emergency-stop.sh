#!/bin/sh
# Stops everything that agentctl runs, and lets nothing new start until `agentctl resume`.
#
# A thin wrapper around `agentctl emergency-stop`. Without agentctl (named by AGENTCTL_BIN, else found on
# PATH) the script sets the latch itself, ends local cells by their records, and removes containers by our
# labels through the engines' own programs (AGENTCTL_ENGINES, by default "docker podman"). Asks no questions.
# Exits with 1 if anything is left.
set -u

program=${AGENTCTL_BIN:-$(command -v agentctl || true)}
if [ -n "$program" ] && [ -x "$program" ]; then
    exec "$program" emergency-stop "$@"
fi

# A directory that only we can write, and not a link: its records decide what is killed.
is_ours() {
    [ -d "$1" ] && [ ! -L "$1" ] && [ -O "$1" ] &&
        [ -z "$(find "$1" -prune \( -perm -020 -o -perm -002 \))" ]
}

# The same order as in the program, which decides it in exec-files/src/user_dirs.rs.
uid=$(id -u)
if [ -n "${AGENTCTL_STATE_DIR:-}" ]; then state=$AGENTCTL_STATE_DIR
elif [ "$uid" = 0 ] && [ -O /run ]; then state=/run/agentctl
elif [ -d "${XDG_RUNTIME_DIR:-}" ] && [ -O "$XDG_RUNTIME_DIR" ]; then state=$XDG_RUNTIME_DIR/agentctl
elif [ -d "/run/user/$uid" ] && [ -O "/run/user/$uid" ]; then state=/run/user/$uid/agentctl
else state=${TMPDIR:-/tmp}/agentctl-$uid-state
fi

umask 077
left=0
mkdir -p "$state" 2>/dev/null
for directory in "$state" "$state/cells"; do
    [ -e "$directory" ] || [ -L "$directory" ] || continue
    is_ours "$directory" && continue
    echo "emergency-stop: $directory is another user's, a link, or open to others: its records are ignored" >&2
    echo "try: run it as the user whose directory it is, or set AGENTCTL_STATE_DIR" >&2
    exit 1
done
if ! { [ -e "$state/stopped" ] || : >>"$state/stopped"; }; then
    echo "emergency-stop: the latch $state/stopped can't be set: new runs are not refused" >&2
    left=1
fi

# The keeper of a cell, unless its number was reused: the 22nd field is the start time of a process.
is_alive() {
    [ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20)" = "$2" ]
}

for record in "$state"/cells/*; do
    [ -f "$record" ] && [ ! -L "$record" ] || continue
    keeper=$(head -c 1048576 "$record" |
        sed -n 's/.*"\(keeper\|leader\)":{"pid":\([0-9]*\),"start":\([0-9]*\)}.*/\2 \3/p')
    [ -n "$keeper" ] || continue
    pid=${keeper% *} start=${keeper#* }
    is_alive "$pid" "$start" || continue
    # PID 1 first: everything inside dies with it, and the keeper cleans up. A keeper that stays is killed
    # too.
    for child in $(cat "/proc/$pid/task/$pid/children" 2>/dev/null); do kill -9 "$child" 2>/dev/null; done
    tries=0
    while is_alive "$pid" "$start" && [ "$tries" -lt 20 ]; do sleep 0.1; tries=$((tries + 1)); done
    is_alive "$pid" "$start" && kill -9 "$pid" 2>/dev/null
    tries=0
    while is_alive "$pid" "$start" && [ "$tries" -lt 20 ]; do sleep 0.1; tries=$((tries + 1)); done
    if is_alive "$pid" "$start" && [ "$(sed 's/.*) //' "/proc/$pid/stat" | cut -c1)" != Z ]; then
        echo "emergency-stop: process $pid is still alive" >&2
        left=1
    fi
done

# Ids of our containers on $engine; fails if the engine does not answer. Images pass their labels on to their
# containers, but can't know the containers' names: a container of ours has its own name among its labels.
# JSON keeps every answer on one line, whatever a label holds.
ours() {
    for _ in 1 2 3; do
        ids=$(timeout 10 "$engine" ps --all --quiet --no-trunc --filter "label=dev.agentctl.state=$state") || return 1
        [ -n "$ids" ] || return 0
        # Fails for a container that was removed in between; the next pass skips it.
        if shown=$(timeout 10 "$engine" inspect --type container --format \
            '{{.Id}} {{json .Name}} {{json (index .Config.Labels "dev.agentctl.cell")}}' $ids 2>/dev/null); then
            echo "$shown" | while read -r id name cell; do
                # Docker puts a slash before names.
                [ "\"${name#\"}" = "$cell" ] || [ "\"${name#\"/}" = "$cell" ] || continue
                echo "$id"
            done
            return 0
        fi
    done
    return 1
}

for engine in ${AGENTCTL_ENGINES:-docker podman}; do
    command -v "$engine" >/dev/null || continue
    found=$(ours) || { echo "emergency-stop: $engine does not answer" >&2; left=1; continue; }
    [ -z "$found" ] || timeout 30 "$engine" rm --force --volumes $found >/dev/null
    if ! found=$(ours) || [ -n "$found" ]; then
        echo "emergency-stop: containers are left on $engine:" $found >&2
        left=1
    fi
done

echo "emergency-stop: new runs are refused until \`agentctl resume\` (or until $state/stopped is removed)" >&2
exit "$left"
