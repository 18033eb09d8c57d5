set -eu
cd "$(dirname "$0")/.."

case "${1:-dev}" in
    dev) files="-f docker-compose.yml" ;;
    prod) files="-f docker-compose.prod.yml" ;;
    *) echo "usage: $0 [dev|prod]" >&2; exit 64 ;;
esac

# The name that containers, networks and volumes of this project have, also for who sets none: its directory's.
name=$(basename "$PWD" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9_-' | sed 's/^[-_]*//')
export COMPOSE_PROJECT_NAME="${COMPOSE_PROJECT_NAME:-${name:-app}}"

# The application runs as who owns the project, and never as root.
owner=$(stat -c %u . 2>/dev/null || stat -f %u .)
group=$(stat -c %g . 2>/dev/null || stat -f %g .)
if [ "$owner" = 0 ]; then owner=1000; group=1000; fi
export APP_UID="${APP_UID:-$owner}" APP_GID="${APP_GID:-$group}"

# Cache mounts need BuildKit.
export DOCKER_BUILDKIT=1 COMPOSE_DOCKER_CLI_BUILD=1

compose() {
    if docker compose version >/dev/null 2>&1; then
        docker compose "$@"
    elif command -v docker-compose >/dev/null 2>&1; then
        docker-compose "$@"
    else
        echo "there is neither docker compose nor docker-compose here: install Docker's compose plugin" >&2
        exit 69
    fi
}

# Ids of this project's containers; arguments are more options of `docker ps`. A label alone proves nothing: images pass
# theirs on to whatever is made from them, compose labels what it builds, and a commit keeps every label. What no image
# can know is what a container is called and which networks it is on.
ours() {
    ids=$(docker ps -q --no-trunc --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" "$@") || return 1
    for id in $ids; do
        # The label comes last, and as JSON: whatever it holds, it stays on its line and is not read as a name.
        shown=$(docker inspect --type container --format '{{.Name}} ,{{range $name, $_ := .NetworkSettings.Networks}}{{$name}},{{end}} {{json (index .Config.Labels "com.docker.compose.service")}}' "$id" 2>/dev/null) || continue
        called=${shown%% *} rest=${shown#* }
        called=${called#/} networks=${rest%% *} service=${rest#* }
        service=${service#\"} service=${service%\"}
        case "$called" in
            "$COMPOSE_PROJECT_NAME-$service-"* | "${COMPOSE_PROJECT_NAME}_${service}_"*) echo "$id"; continue ;;
        esac
        case "$networks" in
            *",${COMPOSE_PROJECT_NAME}_"*) echo "$id" ;;
            *) echo "left alone: $called has this project's label, but neither a name nor a network of it" >&2 ;;
        esac
    done
}
