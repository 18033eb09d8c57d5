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
