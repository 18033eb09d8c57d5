
# Kills everything of this project at once: no questions, no grace, no compose needed. It finds containers by the label that
# compose gives them, so that others are not touched. Volumes stay.

@COMMON@

ours="label=com.docker.compose.project=$COMPOSE_PROJECT_NAME"
# One that is restarted between a look and the kill is found by the next look.
for _ in 1 2 3 4 5; do
    containers=$(docker ps -aq --filter "$ours")
    [ -n "$containers" ] || break
    # shellcheck disable=SC2086
    docker rm --force $containers >/dev/null || true
done
networks=$(docker network ls -q --filter "$ours")
# shellcheck disable=SC2086
[ -z "$networks" ] || docker network rm $networks >/dev/null || true

left=$(docker ps -aq --filter "$ours")
if [ -n "$left" ]; then
    echo "NOT stopped: $left" >&2
    exit 1
fi
echo "stopped: nothing of $COMPOSE_PROJECT_NAME is alive"
