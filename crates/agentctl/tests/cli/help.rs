//! Help, manual pages and shell completions.

use rstest::rstest;

use crate::support::Place;

fn text(args: &[&str]) -> String {
    let output = Place::new().output(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_first_page() {
    insta::assert_snapshot!(text(&["--help"]), @r#"
    Runs commands in a sandbox; everything they start dies with them

    Usage: agentctl <COMMAND>

    Commands:
      run               Run one command in a sandbox
      shell             Open an interactive shell in a sandbox
      mcp               Serve sandboxed command tools to an AI client (MCP)
      workshop          Check a workshop, or run commands in it
      doctor            Check what works here, and how to fix the rest
      ps                List running commands of all orchestrators
      health            Report health: running, stopped or error
      top               Watch running commands live; sort and kill them
      stop              Ask runs to end, and kill them after a grace period
      kill              Kill runs at once, with everything they started
      rm                Remove runs and sessions; --force kills running ones
      emergency-stop    Stop everything now, and refuse new runs
      resume            Lift an emergency stop, so that new runs start again
      gc                Remove resources left behind by dead orchestrators
      images            List, fetch and remove images for runs
      config            Show, check, create and trust configuration files
      bootstrap-docker  Write a Dockerfile to develop and test a project in
      completions       Print a completion script for a shell
      man               Print the manual page, or write all pages into a directory
      help              Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Examples:
      agentctl run -- echo hello
      agentctl run --timeout 10m --memory 4g -- cargo test
      agentctl shell
      agentctl ps
      agentctl emergency-stop
      agentctl config show

    `agentctl run --help` explains every option.
    "#);
}

/// Short help is short: one screen of lines, each a sentence.
#[test]
fn the_options_of_run_in_short() {
    insta::assert_snapshot!(text(&["run", "-h"]), @r#"
    Run one command in a sandbox

    Usage: agentctl run [OPTIONS] -- CMD [ARGS]...

    Arguments:
      [CMD]...  Run this program with these arguments, literally and without a shell

    Options:
      -h, --help  Print help (see more with '--help')

    Input and output:
          --stdin <WHAT>    What the command reads [default: auto] [possible values: auto, none,
                            inherit]
      -t, --tty[=<WHEN>]    Give the command a terminal; `-t` alone means `always` [default: never]
                            [possible values: auto, always, never]
          --raw             Show output on a terminal as it is
          --json            Print one JSON object at the end instead of the output
          --capture <SIZE>  With --json: keep this much of each output stream [default: 1m]

    Sandbox:
          --sandbox <NAME>         Choose the sandbox [default: auto] [possible values: auto, docker,
                                   podman, local]
          --no-fallback[=<BOOL>]   With `auto`: refuse the run instead of falling back from the first
                                   choice
          --min-isolation <LEVEL>  Refuse to run with less isolation than this
          --image <IMAGE>          Run containers from this image [default: host]
          --gpus <all|N>           Give containers this many graphics processors [default: none]
          --network <NETWORK>      Choose what the command can reach [default: none] [possible values:
                                   none, bridge, host]
          --user <UID[:GID]>       Run as this user [default: the owner of the workspace]

    Files:
      -w, --workspace <DIR>          Work on this directory, which has the same path inside [default:
                                     the current one]
          --workspace-mode <MODE>    Choose what may be written in the workspace [default: rw] [possible
                                     values: rw, ro]
          --write-path <PATH>        Let this path be written in a read-only workspace; repeatable
          --mount <SRC:DST[:ro|rw]>  Show more of the host, read-only by default; repeatable
      -C, --cwd <DIR>                Start in this directory of the workspace or a mount [default: the
                                     workspace]
          --allow-dangerous-mounts   Accept mounts and workspaces that give the host away

    Environment:
      -e, --env <NAME[=VALUE]>     Set a variable; a name alone passes your own value on; repeatable
          --secret <NAME[=VALUE]>  Set a variable like --env, and keep its value out of logs and
                                   listings; repeatable

    Limits (`unlimited` lifts one):
          --preset <NAME>                Take limits that are not set from this preset [default:
                                         default] [possible values: default, build, strict]
      -m, --memory <SIZE>                Limit the memory of all processes together, like `512m` or `2g`
          --cpus <N>                     Limit CPU time to that of N CPUs, like `2` or `0.5`
          --pids <N>                     Limit the processes and threads at once
          --open-files <N>               Limit the open files of each process
          --tmp-size <SIZE>              Limit the size of the private /tmp
          --timeout <TIME>               Stop a run after this long: `30s`, `5m`, `1h 30m`, or seconds
          --idle-timeout <TIME>          Stop a run after this long without output
          --grace <TIME>                 Wait this long between SIGTERM and SIGKILL [default: 5s]
          --max-output <SIZE>            Stop a run that writes more output than this
          --best-effort-limits[=<BOOL>]  Report a limit that can't be enforced instead of refusing the
                                         run

    Configuration:
          --config <FILE>  Read this file in place of the user's and the project's; `agentctl config
                           --help` lists those

    Messages:
      -q, --quiet        Say nothing but errors
      -v, --verbose      Say what was looked for and what is used, and log what happens
          --log <STYLE>  How our own lines look [env: AGENTCTL_LOG] [default: text] [possible values:
                         text, worker]

    Examples:
      agentctl run -- echo hello
      agentctl run -- sh -c 'make && make test'
      agentctl run --workspace-mode ro --write-path target -- cargo build --offline
      agentctl run --timeout 30s --memory 512m --json -- python3 script.py
      agentctl run --secret TOKEN --env MODE=ci -- ./deploy --dry-run
      tar c . | agentctl run --stdin inherit -- sha256sum
    "#);
}

#[rstest]
#[case::run("run")]
#[case::shell("shell")]
#[case::mcp("mcp")]
#[case::bootstrap("bootstrap-docker")]
#[case::completions("completions")]
#[case::man("man")]
fn every_command_has_examples(#[case] command: &str) {
    let help = text(&[command, "--help"]);
    assert!(help.contains("Examples:\n  agentctl"), "{help}");
}

#[rstest]
#[case("bash")]
#[case("zsh")]
#[case("fish")]
#[case("elvish")]
#[case("powershell")]
fn shells_complete_our_options(#[case] shell: &str) {
    let script = text(&["completions", shell]);
    assert!(script.contains("min-isolation"), "{script}");
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let place = Place::new();
    assert!(text(&["man"]).contains(".TH agentctl 1"));
    let output = place.output(["man", place.path().to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    for name in ["agentctl", "agentctl-run", "agentctl-shell", "agentctl-completions", "agentctl-man"] {
        let page = std::fs::read_to_string(place.path().join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains("SYNOPSIS"), "{name}: {page}");
    }
    let nowhere = place.output(["man", "/no/such/directory"]);
    let said = String::from_utf8_lossy(&nowhere.stderr);
    assert_eq!(nowhere.status.code(), Some(125), "{said}");
    assert!(said.contains("/no/such/directory") && said.contains("try: "), "{said}");
}
