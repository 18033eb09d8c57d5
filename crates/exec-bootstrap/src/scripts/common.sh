set -eu
cd "$(dirname "$0")/.."

case "${1:-dev}" in
    dev) files="-f docker-compose.yml" ;;
    prod) files="-f docker-compose.prod.yml" ;;
    *) echo "usage: $0 [dev|prod]" >&2; exit 64 ;;
esac

# The name of this project's containers, networks and volumes; by default that of its directory.
name=$(basename "$PWD" | tr '[:upper:]' '[:lower:]' | tr -cd 'a-z0-9_-' | sed 's/^[-_]*//')
export COMPOSE_PROJECT_NAME="${COMPOSE_PROJECT_NAME:-${name:-app}}"

# The application runs as the owner of the project, and never as root.
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
        echo "neither docker compose nor docker-compose is installed: install Docker's compose plugin" >&2
        exit 69
    fi
}

# Ids of this project's containers; arguments are more options of `docker ps`. A label alone proves nothing: images pass
# theirs on to their containers, compose labels the images it builds, and a commit keeps every label. An image can't
# know the name of a container and its networks.
ours() {
    ids=$(docker ps -q --no-trunc --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" "$@") || return 1
    for id in $ids; do
        # The label comes last, and as JSON: whatever it holds, it stays on one line and is not read as a name.
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
