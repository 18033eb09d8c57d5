# Checks in the machine that memory, processes and CPUs of a local cell are limited wherever this runs, and
# that the groups of this shell are unchanged afterwards.
set -u
agentctl=/srv/agentctl/debug/agentctl
place=$(mktemp -d)
export XDG_STATE_HOME="$place/state"
mkdir "$place/workspace" && cd "$place/workspace" || exit 1
own=$(sed -n 's/^0:://p' /proc/self/cgroup)

groups() {
    group=$own
    while :; do
        for file in cgroup.type cgroup.subtree_control; do
            echo "$group $file: $(cat "/sys/fs/cgroup$group/$file" 2>/dev/null)"
        done
        [ "$group" = / ] && break
        group=$(dirname "$group")
    done
}

passed=0 failed=0
expect() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        echo "$1: expected $3, found $2"
        failed=$((failed + 1))
    fi
}

echo "in $own"
groups > before
$agentctl run --sandbox local --memory 64m --json -- python3 -c 'x = bytearray(200 << 20)' > result
expect memory "$(grep -o '"ended":"[a-z_]*"' result)" '"ended":"out_of_memory"'
$agentctl run --sandbox local --pids 5 -- python3 -c '
import os, time
begun = 0
try:
    while begun < 50:
        if os.fork() == 0:
            time.sleep(5)
            os._exit(0)
        begun += 1
except OSError:
    pass
print(begun)' > result
expect processes "$(cat result)" 4
$agentctl run --sandbox local --cpus 0.5 -- true
expect CPUs $? 0

# A moment later, systemd takes back the controllers of a scope.
for _ in $(seq 50); do
    groups > after
    cmp -s before after && break
    sleep 0.2
done
diff before after
expect 'own groups' $? 0
# Prints the result like a test harness.
echo "test result: $passed passed; $failed failed; 0 ignored"
exit $failed
