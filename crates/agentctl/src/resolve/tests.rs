//! From a command line to a job.

use std::io;
use std::path::{Path, PathBuf};

use clap::Parser;
use exec_config::Links;
use exec_core::{ByteSize, ErrorKind, LimitPolicy, Machine, User, WorkspaceMode};

use super::*;
use crate::args::{Cli, Command};

const PIPED: Host = Host {
    stdin_is_terminal: false,
    stdout_is_terminal: false,
    stderr_is_terminal: false,
    window: None,
    variable: |name| (name == "TOKEN").then(|| "secret".into()),
};

const INTERACTIVE: Host = Host {
    stdin_is_terminal: true,
    stdout_is_terminal: true,
    stderr_is_terminal: true,
    window: Some(WindowSize { rows: 50, cols: 132 }),
    ..PIPED
};

/// A host without any configuration.
struct Bare;

impl HostEnvironment for Bare {
    fn backends(&self) -> &'static [exec_config::Backend] {
        crate::backends::all()
    }

    fn variables(&self) -> Vec<(OsString, OsString)> {
        Vec::new()
    }
    fn read(&self, _: &Path, _: Links) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }
    fn read_own(&self, _: &Path) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }
    fn exists(&self, _: &Path) -> bool {
        false
    }
    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }
    fn is_ours(&self, _: &Path) -> bool {
        true
    }
    fn machine(&self) -> Machine {
        Machine { cpus: 2, memory: None }
    }
}

fn job(line: &str, host: Host) -> Result<Job> {
    match Cli::try_parse_from(["agentctl"].into_iter().chain(line.split_whitespace())).unwrap().command {
        Command::Run(args) => run(*args, &Bare, host),
        Command::Shell(args) => shell(&args, &Bare, host),
        other => panic!("no job: {other:?}"),
    }
}

fn opts(line: &str, host: Host) -> Result<ExecOpts> {
    job(line, host).map(|job| job.opts.on("local").clone())
}

#[test]
fn a_pipe_is_passed_on_and_a_terminal_is_not() {
    assert_eq!(job("run -- cat", PIPED).unwrap().input, Input::Stream);
    assert_eq!(job("run -- cat", INTERACTIVE).unwrap().input, Input::Nothing);
    assert_eq!(job("run --stdin none -- cat", PIPED).unwrap().input, Input::Nothing);
    assert_eq!(job("run --stdin inherit -- cat", INTERACTIVE).unwrap().input, Input::Stream);
}

#[test]
fn a_terminal_follows_ours() {
    let interactive = job("run -t -- vi", INTERACTIVE).unwrap();
    assert_eq!(
        (interactive.opts.on("docker").tty, interactive.terminal),
        (INTERACTIVE.window, OurTerminal::Raw)
    );
    assert_eq!(interactive.escapes.stdout, Treatment::AsIs);
    let piped = job("run -t -- vi", PIPED).unwrap();
    assert_eq!(
        (piped.opts.on("docker").tty, piped.terminal),
        (Some(WindowSize::default()), OurTerminal::Untouched)
    );
    assert_eq!(opts("run --tty=auto -- vi", PIPED).unwrap().tty, None);
    assert_eq!(job("run -t --json -- vi", INTERACTIVE).unwrap().terminal, OurTerminal::Untouched);
}

/// A34
#[test]
fn escapes_are_shown_to_people_only() {
    let of = |line: &str, host| job(line, host).unwrap().escapes.stdout;
    assert_eq!(of("run -- ls", INTERACTIVE), Treatment::Visible);
    assert_eq!(of("run --raw -- ls", INTERACTIVE), Treatment::AsIs);
    assert_eq!(of("run -- ls", PIPED), Treatment::AsIs);
    let mixed = job("run -- ls", Host { stdout_is_terminal: false, ..INTERACTIVE }).unwrap().escapes;
    assert_eq!((mixed.stdout, mixed.stderr), (Treatment::AsIs, Treatment::Visible));
}

#[test]
fn variables_are_set_or_passed_on() {
    let opts = opts("run --env A=b=c --env TOKEN --env E= -- env", PIPED).unwrap();
    let value = |name: &str| opts.env.get(OsStr::new(name)).cloned().unwrap();
    assert_eq!((value("A"), value("TOKEN"), value("E")), ("b=c".into(), "secret".into(), "".into()));
    let error = job("run --env NOPE -- env", PIPED).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

/// R91
#[test]
fn secrets_are_variables_that_are_marked() {
    let opts = opts("run --secret TOKEN --secret PIN=12=34 --env PIN=x --env MODE=ci -- env", PIPED).unwrap();
    let value = |name: &str| opts.env.get(OsStr::new(name)).cloned().unwrap();
    assert_eq!((value("TOKEN"), value("PIN"), value("MODE")), ("secret".into(), "12=34".into(), "ci".into()));
    assert_eq!(opts.secret_env.iter().collect::<Vec<_>>(), ["PIN", "TOKEN"]);
    let shell = job("shell --secret TOKEN", INTERACTIVE).unwrap();
    assert!(shell.opts.on("docker").secret_env.contains(OsStr::new("TOKEN")));
}

#[test]
fn writable_paths_make_the_rest_read_only() {
    let mode = |line: &str| opts(line, PIPED).map(|opts| opts.workspace.mode);
    assert_eq!(mode("run -- ls").unwrap(), WorkspaceMode::ReadWrite);
    let writable = vec!["target".into()];
    assert_eq!(mode("run --write-path target -- ls").unwrap(), WorkspaceMode::ReadOnly { writable });
    assert!(mode("run --workspace-mode rw --write-path target -- ls").is_err());
}

/// R40
#[test]
fn limits_are_as_typed() {
    let opts = opts("run --memory 64m --pids unlimited --best-effort-limits --user 7 -- ls", PIPED).unwrap();
    assert_eq!(opts.limits.memory, Limit::Exactly(ByteSize::mib(64)));
    assert_eq!((opts.limits.pids, opts.limits.policy), (Limit::Unlimited, LimitPolicy::Report));
    assert_eq!(opts.user, User::Id { uid: 7, gid: 7 });
}

/// R64
#[test]
fn a_terminal_gets_a_banner_and_a_pipe_gets_warnings() {
    let talk = |line: &str, host| job(line, host).unwrap().talk;
    assert_eq!(talk("run -- ls", INTERACTIVE), Talk::Normal);
    assert_eq!(talk("run -- ls", PIPED), Talk::Terse);
    assert_eq!(talk("run --verbose -- ls", PIPED), Talk::Verbose);
    assert_eq!(talk("run --quiet -- ls", INTERACTIVE), Talk::Quiet);
    assert_eq!(job("run --log worker -- ls", PIPED).unwrap().voice, Voice::Worker);
}

#[test]
fn a_shell_has_no_time_limit_unless_given_one() {
    assert_eq!(opts("shell", INTERACTIVE).unwrap().limits.timeout, Limit::Unlimited);
    assert!(opts("shell --timeout 5m", INTERACTIVE).unwrap().limits.timeout.is_explicit());
}

#[test]
fn the_users_own_shell_comes_first() {
    let names = |own: Option<&str>| {
        let shells = shells(own.map(OsString::from));
        shells.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(Some("/usr/bin/fish")), ["/usr/bin/fish", "bash", "sh"]);
    assert_eq!(names(Some("relative")), ["bash", "sh"]);
}
