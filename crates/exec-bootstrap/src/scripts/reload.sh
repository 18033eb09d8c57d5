
# Runs a command, and again whenever a file of the project changes. For the container of docker-compose.yml.

set -u
if [ "$#" = 0 ]; then echo "usage: $0 COMMAND [ARGUMENT…]" >&2; exit 64; fi

child=
stop() {
    if [ -n "$child" ]; then
        kill -TERM -- "-$child" 2>/dev/null
        wait "$child" 2>/dev/null
    fi
}
trap 'stop; exit 143' TERM INT

mark=$(mktemp)
while :; do
    touch "$mark"
    # In its own session, so that its children end with it.
    setsid "$@" &
    child=$!
    changed=
    while [ -z "$changed" ]; do
        sleep 1
        changed=$(find . \( -name .git -o -name node_modules -o -name target -o -name dist -o -name build -o -name __pycache__ \
            -o -name .venv -o -name '*.log' \) -prune -o -type f -newer "$mark" -print 2>/dev/null | head -n 1)
    done
    echo "$changed changed: starting again" >&2
    stop
done
