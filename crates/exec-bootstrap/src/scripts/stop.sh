
# Stops this project, however it was started. Volumes, including /app/data, stay.

@COMMON@

for file in docker-compose.yml docker-compose.prod.yml; do
    [ ! -e "$file" ] || compose -f "$file" down --remove-orphans
done

left=$(ours)
if [ -n "$left" ]; then
    echo "still running: $left; scripts/emergency-stop.sh kills it" >&2
    exit 1
fi
