
# Kills all containers of this project at once, without questions, without a grace period and without compose. It finds
# them by the label and the name or network that compose gives them, so others are not touched. Volumes stay.

@COMMON@

# A container restarted between the listing and the kill is found by the next listing.
for _ in 1 2 3 4 5; do
    containers=$(ours --all 2>/dev/null) || break
    [ -n "$containers" ] || break
    # shellcheck disable=SC2086
    docker rm --force $containers >/dev/null || true
done
networks=$(docker network ls -q --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME") || networks=
# shellcheck disable=SC2086
[ -z "$networks" ] || docker network rm $networks >/dev/null || true

left=$(ours --all) || { echo "NOT stopped: docker does not answer" >&2; exit 1; }
if [ -n "$left" ]; then
    echo "NOT stopped: $left" >&2
    exit 1
fi
echo "stopped: no container of $COMPOSE_PROJECT_NAME is left"
