
# Builds the image of this project: scripts/docker-build.sh [dev|prod]

@COMMON@

# shellcheck disable=SC2086 # two words, or none
compose $files build
