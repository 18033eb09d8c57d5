//! Turns a plan into the frame that starts it, and a failed start into an error for the user. Pure.

use std::time::Duration;

use exec_core::{Change, Error, ErrorKind, Lifetime, Plan, Remedy, Stdin};
use exec_wire::{Failed, Limits, Rlimit, Stage, Start, Stdio, WindowSize};

/// After the command has ended, leftover processes may write for this long before they are killed: enough for the
/// tail of a pipeline, too short to notice when a background process holds the pipe.
const DRAIN: Duration = Duration::from_millis(100);

/// New files get the permissions that the caller's tools expect.
const UMASK: u32 = 0o022;

/// The frame that starts a planned run.
pub(crate) fn start(plan: &Plan, rlimits: Vec<Rlimit>) -> Start {
    Start {
        argv: plan.argv.iter().map(|word| word.as_encoded_bytes().to_vec()).collect(),
        env: plan
            .env
            .iter()
            .map(|(name, value)| [name.as_encoded_bytes(), b"=", value.as_encoded_bytes()].concat())
            .collect(),
        cwd: plan.cwd.as_os_str().as_encoded_bytes().to_vec(),
        stdio: match plan.tty {
            Some(size) => Stdio::Tty(WindowSize { rows: size.rows, cols: size.cols }),
            None => Stdio::Pipes { stdin: !matches!(plan.stdin, Stdin::Empty) },
        },
        limits: Limits {
            wall_ms: plan.limits.timeout.map(millis),
            idle_ms: plan.idle_timeout.map(millis),
            output_bytes: plan.limits.output.map(exec_core::ByteSize::get),
            grace_ms: millis(plan.grace),
            drain_ms: millis(DRAIN),
        },
        lifetime: match plan.lifetime {
            Lifetime::Ephemeral => exec_wire::Lifetime::Cell,
            Lifetime::Session(_) => exec_wire::Lifetime::Session,
        },
        umask: UMASK,
        rlimits,
    }
}

/// Whole milliseconds, rounded up so that a tiny limit does not become zero.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Error numbers as a Linux cell reports them, whatever the host is.
mod errno {
    pub(super) const ENOENT: i32 = 2;
    pub(super) const E2BIG: i32 = 7;
    pub(super) const EAGAIN: i32 = 11;
    pub(super) const ENOMEM: i32 = 12;
    pub(super) const ENOTDIR: i32 = 20;
    pub(super) const ENFILE: i32 = 23;
    pub(super) const EMFILE: i32 = 24;
    pub(super) const ELOOP: i32 = 40;
}

/// The error for a command that could not be started.
pub(crate) fn start_error(plan: &Plan, failed: &Failed, backend: &str) -> Error {
    let program = plan.argv.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let reason = std::io::Error::from_raw_os_error(failed.errno);
    let error = match (failed.stage, failed.errno) {
        (Stage::Exec, errno::ENOENT | errno::ENOTDIR | errno::ELOOP) => Error::new(
            ErrorKind::ProgramNotFound,
            "start",
            format!("there is no program `{program}` in the sandbox"),
        )
        .with_remedy(
            Remedy::from("check the spelling")
                .or(Change::give("mounts").with_purpose("for a program outside the system's directories")),
        ),
        (Stage::Exec, errno::E2BIG) => Error::new(
            ErrorKind::InvalidInput,
            "start",
            "the arguments and environment are too long together",
        )
        .with_remedy("pass the data through standard input or a file"),
        (_, errno::EAGAIN | errno::ENOMEM | errno::ENFILE | errno::EMFILE) => Error::new(
            ErrorKind::ResourceExhausted,
            "start",
            format!("the system has no room to start `{program}`"),
        )
        .with_source(reason)
        .with_remedy(
            Remedy::from("end other commands")
                .or(Change::raise("pids"))
                .or(Change::raise("memory"))
                .or(Change::raise("open_files")),
        ),
        (Stage::Exec, _) => Error::new(
            ErrorKind::ProgramNotExecutable,
            "start",
            format!("`{program}` can't be executed"),
        )
        .with_source(reason)
        .with_remedy(
            "check that it is an executable file for this machine (chmod +x, interpreter, architecture)",
        ),
        (Stage::Cwd, _) => {
            let cwd = plan.cwd.display();
            Error::new(
                ErrorKind::InvalidInput,
                "start",
                format!("the working directory `{cwd}` can't be entered"),
            )
            .with_source(reason)
            .with_remedy("name a directory inside the workspace that the command's user may enter")
        }
        (Stage::Refused, _) => {
            Error::new(ErrorKind::ResourceExhausted, "start", "the sandbox takes no further command")
                .with_remedy("wait for a running command of this session to end")
        }
        (stage @ (Stage::Stdio | Stage::Fork | Stage::Confine), _) => {
            let step = match stage {
                Stage::Stdio => "its pipes or terminal could not be made",
                Stage::Fork => "no process could be made for it",
                _ => "its limits and fences could not be set",
            };
            Error::new(ErrorKind::Io, "start", format!("`{program}` could not be started: {step}"))
                .with_source(reason)
        }
    };
    error.with_backend(backend)
}

#[cfg(test)]
mod tests {
    use exec_core::{Cmd, ExecOpts, OwnPlaces};
    use rstest::rstest;

    use super::*;

    fn plan() -> Plan {
        let opts = ExecOpts::in_workspace(std::env::temp_dir()).with_timeout(Duration::from_micros(1));
        Plan::resolve(&Cmd::new("prog").arg("-x"), &opts, [], &OwnPlaces::default()).unwrap()
    }

    #[test]
    fn a_plan_becomes_a_start() {
        let start = start(&plan(), Vec::new());
        assert_eq!(start.argv, [b"prog".to_vec(), b"-x".to_vec()]);
        assert_eq!(start.limits.wall_ms, Some(1));
        assert_eq!(start.stdio, Stdio::Pipes { stdin: false });
    }

    #[rstest]
    #[case(Stage::Exec, 2, ErrorKind::ProgramNotFound)]
    #[case(Stage::Exec, 13, ErrorKind::ProgramNotExecutable)]
    #[case(Stage::Exec, 8, ErrorKind::ProgramNotExecutable)]
    #[case(Stage::Exec, 7, ErrorKind::InvalidInput)]
    #[case(Stage::Cwd, 2, ErrorKind::InvalidInput)]
    #[case(Stage::Fork, 11, ErrorKind::ResourceExhausted)]
    #[case(Stage::Stdio, 24, ErrorKind::ResourceExhausted)]
    #[case(Stage::Refused, 0, ErrorKind::ResourceExhausted)]
    #[case(Stage::Confine, 1, ErrorKind::Io)]
    fn a_failed_start_is_an_error_that_names_its_kind(
        #[case] stage: Stage,
        #[case] errno: i32,
        #[case] kind: ErrorKind,
    ) {
        let error = start_error(&plan(), &Failed { stage, errno }, "local");
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().starts_with("local: "));
    }
}
