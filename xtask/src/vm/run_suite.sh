# Runs one suite in the machine: DIRECTORY REQUIRED TEST [CASE...]
# One case at a time: in an emulated machine, concurrent engines and cells exceed their time limits.
directory=$1 required=$2 test=$3
shift 3
mkdir -p -m 755 "$directory" && cd "$directory" || exit 1
export TMPDIR="$directory" XDG_STATE_HOME="$directory/state" EXEC_TEST_REQUIRE="$required"
export AGENTCTL_BIN=/srv/agentctl/debug/agentctl EXEC_TEST_SOURCE=/srv/agentctl/crates

# Through a file: a process that a test leaves behind must not keep the connection open. One name at a time:
# the harness of the conformance tests takes one.
{
    status=0
    [ $# -gt 0 ] || set -- ''
    for case; do
        "/srv/agentctl/debug/deps/$test" --test-threads=1 $case || status=1
    done
    exit $status
} > output 2>&1 < /dev/null &
tail -n +1 -f --pid=$! output
wait $!
