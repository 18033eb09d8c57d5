//! Invalid input: each is an error that names the cause and the fix, before anything starts.

use crate::support::Place;

/// The error message of a run with these options, which must not start.
fn refusal(options: &[&str]) -> String {
    let place = Place::new();
    std::fs::create_dir(place.path().join("sub")).unwrap();
    std::fs::write(place.path().join("file"), "").unwrap();
    let output = place.output(["run"].iter().chain(options).chain(&["--", "touch", "ran"]));
    assert_eq!(output.status.code(), Some(125), "{options:?}");
    assert!(output.stdout.is_empty() && !place.path().join("ran").exists(), "{options:?}");
    let dir = place.path().canonicalize().unwrap();
    String::from_utf8(output.stderr).unwrap().replace(dir.to_str().unwrap(), "[workspace]")
}

/// The refusals of several lines of options, one below the other.
fn refusals(lines: &[&str]) -> String {
    let one = |line: &&str| {
        let options: Vec<&str> = line.split(' ').collect();
        format!("$ {line}\n{}", refusal(&options).replace("\n\nFor more information, try '--help'.", ""))
    };
    lines.iter().map(one).collect()
}

#[test]
fn no_command() {
    let output = Place::new().output(["run"]);
    assert_eq!(output.status.code(), Some(125));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r"
    agentctl: no command was given
      try: name a program, like `echo hello`
    ");
    let output = Place::new().output(["run", "--", ""]);
    assert_eq!(output.status.code(), Some(125));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r"
    agentctl: the program's name is empty
      try: name a program, like `echo hello`
    ");
}

/// R40
#[test]
fn limits() {
    let lines = [
        "--memory 0",
        "--memory -1",
        "--memory 512x",
        "--memory 99999999t",
        "--memory 4k",
        "--cpus 0",
        "--cpus nan",
        "--cpus 100000",
        "--pids 0",
        "--pids 4000000000",
        "--open-files 1.5",
        "--timeout 0",
        "--timeout soon",
        "--idle-timeout 10y",
        "--grace -1s",
        "--max-output 0",
        "--preset huge",
    ];
    insta::assert_snapshot!(refusals(&lines), @r"
    $ --memory 0
    error: invalid value '0' for '--memory <SIZE>': `0` is not a size: it must be more than 0; leave the option out for the default
    $ --memory -1
    error: invalid value '-1' for '--memory <SIZE>': `-1` is not a size: the unit is b, k, m, g or t; write a number and a unit, like `512m` or `2g`
    $ --memory 512x
    error: invalid value '512x' for '--memory <SIZE>': `512x` is not a size: the unit is b, k, m, g or t; write a number and a unit, like `512m` or `2g`
    $ --memory 99999999t
    error: invalid value '99999999t' for '--memory <SIZE>': `99999999t` is not a size: the number is malformed or too large; write a number and a unit, like `512m` or `2g`
    $ --memory 4k
    agentctl: a limit of 4 KiB for memory lets nothing run
      try: give it at least 1 MiB, or leave it out for the default
    $ --cpus 0
    error: invalid value '0' for '--cpus <N>': `0` is not a number of CPUs: it must be at least 0.01
    $ --cpus nan
    error: invalid value 'nan' for '--cpus <N>': `nan` is not a number of CPUs: it must be at least 0.01
    $ --cpus 100000
    error: invalid value '100000' for '--cpus <N>': `100000` is not a number of CPUs: no machine has that many; the most is 8192
    $ --pids 0
    error: invalid value '0' for '--pids <N>': `0` is not a count: write a whole number from 1 to 4194304, like `256`
    $ --pids 4000000000
    error: invalid value '4000000000' for '--pids <N>': `4000000000` is not a count: write a whole number from 1 to 4194304, like `256`
    $ --open-files 1.5
    error: invalid value '1.5' for '--open-files <N>': `1.5` is not a count: write a whole number from 1 to 4194304, like `256`
    $ --timeout 0
    error: invalid value '0' for '--timeout <TIME>': `0` is not a duration: it must be more than 0
    $ --timeout soon
    error: invalid value 'soon' for '--timeout <TIME>': `soon` is not a duration: write a number and a unit, like `30s`, `5m` or `250ms`
    $ --idle-timeout 10y
    error: invalid value '10y' for '--idle-timeout <TIME>': `10y` is not a duration: the most is a year
    $ --grace -1s
    error: invalid value '-1s' for '--grace <TIME>': `-1s` is not a duration: write a number and a unit, like `30s`, `5m` or `250ms`
    $ --max-output 0
    error: invalid value '0' for '--max-output <SIZE>': `0` is not a size: it must be more than 0; leave the option out for the default
    $ --preset huge
    error: invalid value 'huge' for '--preset <NAME>'
      [possible values: default, build, strict]
    ");
}

/// R22, A36
#[test]
fn places() {
    let lines = [
        "--workspace nowhere",
        "--workspace file",
        "--workspace /etc",
        "--workspace /usr",
        "--cwd nowhere",
        "--cwd /usr",
        "--cwd sub/../..",
        "--cwd file",
        "--mount nowhere:/data",
        "--mount sub:data",
        "--mount sub:/data:wr",
        "--mount sub:/a/../b",
        "--mount /proc:/data",
        "--mount sub:/usr",
        "--mount sub:/data:rw --mount sub:/data/deeper:rw",
        "--workspace-mode rw --write-path sub",
        "--write-path ..",
        "--write-path nowhere",
        "--workspace-mode upside-down",
    ];
    insta::assert_snapshot!(refusals(&lines), @r"
    $ --workspace nowhere
    agentctl: the workspace `nowhere` can't be used: No such file or directory (os error 2)
      try: name a workspace that exists and that you may read
    $ --workspace file
    agentctl: the workspace is not a directory (workspace: [workspace]/file)
      try: name a directory
    $ --workspace /etc
    agentctl: the workspace `/etc` is refused: it holds the host's own files
      try: name a directory below it, or pass --allow-dangerous-mounts if you mean it
    $ --workspace /usr
    agentctl: `/usr` is refused as writable: the host runs the programs in it
      try: give it read-only, or pass --allow-dangerous-mounts if you mean it
    $ --cwd nowhere
    agentctl: the working directory `nowhere` can't be used: No such file or directory (os error 2)
      try: create it first, or name one that exists
    $ --cwd /usr
    agentctl: the working directory `/usr` is outside the workspace and the mounts (workspace: [workspace])
      try: name a directory inside, or pass --mount to add it
    $ --cwd sub/../..
    agentctl: the working directory `sub/../..` contains `..`
      try: write the path without `..`
    $ --cwd file
    agentctl: the working directory `file` is not a directory
      try: name a directory
    $ --mount nowhere:/data
    agentctl: the mount source `nowhere` can't be used: No such file or directory (os error 2)
      try: name a mount source that exists and that you may read
    $ --mount sub:data
    error: invalid value 'sub:data' for '--mount <SRC:DST[:ro|rw]>': `sub:data` is not a mount: the place inside must be an absolute path without `..`
    $ --mount sub:/data:wr
    error: invalid value 'sub:/data:wr' for '--mount <SRC:DST[:ro|rw]>': `sub:/data:wr` is not a mount: `wr` is not a mode; write `SRC`, `SRC:DST` or `SRC:DST:ro|rw`
    $ --mount sub:/a/../b
    error: invalid value 'sub:/a/../b' for '--mount <SRC:DST[:ro|rw]>': `sub:/a/../b` is not a mount: the place inside must be an absolute path without `..`
    $ --mount /proc:/data
    agentctl: the mount source `/proc` is refused: it is the kernel's interface, not files
      try: name a directory below it, or pass --allow-dangerous-mounts if you mean it
    $ --mount sub:/usr
    agentctl: the mount target `/usr` would cover the cell's own `/usr`
      try: choose a place like `/data` or `/mnt/data`
    $ --mount sub:/data:rw --mount sub:/data/deeper:rw
    agentctl: the mount targets `/data` and `/data/deeper` overlap
      try: give each mount a place of its own, outside the workspace
    $ --workspace-mode rw --write-path sub
    agentctl: --write-path says what may be written in a read-only workspace, but this one is writable (--workspace-mode)
      try: leave the paths out, or make the workspace read-only
    $ --write-path ..
    agentctl: the writable path `..` is not inside the workspace (workspace: [workspace])
      try: name a path below the workspace, or pass --mount for one elsewhere
    $ --write-path nowhere
    agentctl: the writable path `[workspace]/nowhere` can't be used: No such file or directory (os error 2)
      try: name a writable path that exists and that you may read
    $ --workspace-mode upside-down
    error: invalid value 'upside-down' for '--workspace-mode <MODE>'
      [possible values: rw, ro]
    ");
}

#[test]
fn everything_else() {
    let lines = [
        "--sandbox dokcer",
        "--image debian:12",
        "--gpus all",
        "--gpus none",
        "--min-isolation jail",
        "--network bridge",
        "--user root",
        "--env NO_SUCH_VARIABLE_HERE",
        "--env =value",
        "--secret NO_SUCH_VARIABLE_HERE",
        "--secret =hunter22",
        "--stdin keyboard",
        "--tty=perhaps",
        "--capture 1k",
        "--privileged",
        "--quiet --verbose",
        "--memroy 1g",
    ];
    insta::assert_snapshot!(refusals(&lines), @r"
    $ --sandbox dokcer
    error: invalid value 'dokcer' for '--sandbox <NAME>'
      [possible values: auto, docker, podman, local]

      tip: a similar value exists: 'docker'
    $ --image debian:12
    agentctl: local: there are no images here to find `debian:12` in
      try: leave --image out, or use a container (--sandbox docker)
    $ --gpus all
    agentctl: local: there are no graphics processors in this sandbox
      try: leave --gpus out, or use a container (--sandbox docker)
    $ --gpus none
    error: invalid value 'none' for '--gpus <all|N>': `none` is not a number of GPUs: write `all`, or how many
    $ --min-isolation jail
    error: invalid value 'jail' for '--min-isolation <LEVEL>': `jail` is not an isolation level: use one of process-group, subreaper, namespaces, container, vm
    $ --network bridge
    agentctl: local: there is no bridge network without a container engine
      try: use --network none, use --network host, or use a container (--sandbox docker)
    $ --user root
    error: invalid value 'root' for '--user <UID[:GID]>': `root` is not a user: write numbers, like `1000` or `1000:1000`
    $ --env NO_SUCH_VARIABLE_HERE
    agentctl: you have no variable `NO_SUCH_VARIABLE_HERE` to pass on
      try: set it first, or give it a value: NO_SUCH_VARIABLE_HERE=…
    $ --env =value
    error: invalid value '=value' for '--env <NAME[=VALUE]>': a variable needs a name: write NAME=VALUE, or NAME to pass your own value on
    $ --secret NO_SUCH_VARIABLE_HERE
    agentctl: --secret NO_SUCH_VARIABLE_HERE: you have no variable `NO_SUCH_VARIABLE_HERE` to pass on
      try: set and export it first, as in `read -rs NO_SUCH_VARIABLE_HERE; export NO_SUCH_VARIABLE_HERE`
    $ --secret =hunter22
    agentctl: --secret: a variable needs a name
      try: write --secret NAME to pass your own value on, or --secret NAME=VALUE
    $ --stdin keyboard
    error: invalid value 'keyboard' for '--stdin <WHAT>'
      [possible values: auto, none, inherit]
    $ --tty=perhaps
    error: invalid value 'perhaps' for '--tty[=<WHEN>]'
      [possible values: auto, always, never]
    $ --capture 1k
    error: the following required arguments were not provided:
      --json

    Usage: agentctl run [OPTIONS] -- CMD [ARGS]...
    $ --privileged
    error: unexpected argument '--privileged' found

      tip: to pass '--privileged' as a value, use '-- --privileged'

    Usage: agentctl run [OPTIONS] -- CMD [ARGS]...
    $ --quiet --verbose
    error: the argument '--quiet' cannot be used with '--verbose'

    Usage: agentctl run [OPTIONS] -- CMD [ARGS]...
    $ --memroy 1g
    error: unexpected argument '--memroy' found

      tip: a similar argument exists: '--memory'
      tip: to pass '--memroy' as a value, use '-- --memroy'

    Usage: agentctl run [OPTIONS] -- CMD [ARGS]...
    ");
}
