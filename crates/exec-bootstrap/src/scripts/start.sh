
# Starts this project and waits until it is healthy: scripts/docker-start.sh [dev|prod]

@COMMON@

# A missing mount source would be made by the engine, as root.
mkdir -p config
if [ "${1:-dev}" = prod ] && [ ! -e secrets/app_secret ]; then
    # Other users can't enter the directory; the application can read the file as any user.
    mkdir -p -m 700 secrets
    : > secrets/app_secret
    echo '*' > secrets/.gitignore
    echo "made an empty secrets/app_secret: put the application's secret into it" >&2
fi

# shellcheck disable=SC2086
compose $files up -d

# shellcheck disable=SC2086
container=$(compose $files ps -q app)
left="${START_TIMEOUT:-180}"
while :; do
    state=$(docker inspect -f '{{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{end}}' "$container")
    case "$state" in
        "running healthy") echo "started: $COMPOSE_PROJECT_NAME"; exit 0 ;;
        running*) ;;
        *) echo "it does not run ($state); its last output:" >&2; docker logs --tail 30 "$container" >&2; exit 1 ;;
    esac
    if [ "$left" -le 0 ]; then
        echo "it runs and is not healthy (nothing listens on its port 8080); its last output:" >&2
        docker logs --tail 30 "$container" >&2
        exit 1
    fi
    left=$((left - 1))
    sleep 1
done
