//! The suites that run in the machine, and as which user. Data, and the line of shell for each.

use std::fmt;

use crate::args::{Arch, VmExtent};

/// The script on the test disk that runs one suite.
const RUN_SUITE: &str = "/srv/agentctl/run-suite.sh";

/// The user of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunAs {
    /// In a login session.
    Root,
    /// An ordinary user in a login session.
    WithSession,
    /// An ordinary user in a system service: without a login, and so without their own systemd.
    WithoutSession,
}

impl RunAs {
    const ALL: [Self; 3] = [Self::Root, Self::WithSession, Self::WithoutSession];

    /// The user who logs in for it.
    pub(super) fn login(self) -> &'static str {
        match self {
            Self::Root | Self::WithoutSession => "root",
            Self::WithSession => "user",
        }
    }

    /// The claims that must hold; a missing claim would only be reported.
    fn required(self) -> &'static str {
        match self {
            Self::Root => {
                "local,local:memory_limit,local:pids_limit,local:cpu_limit,docker,docker:memory_limit,docker:pids_limit,docker:cpu_limit,podman,podman:memory_limit,podman:pids_limit,podman:cpu_limit"
            }
            Self::WithSession => {
                "local,local:memory_limit,local:pids_limit,local:cpu_limit,podman,podman:memory_limit,podman:pids_limit,podman:cpu_limit"
            }
            Self::WithoutSession => "local",
        }
    }
}

/// The tests of one executable, or part of them, as one user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Suite {
    pub(super) user: RunAs,
    package: &'static str,
    test: &'static str,
    /// Parts of the names of the cases to run; empty means all.
    cases: &'static [&'static str],
}

/// The program's tests that depend on the user and the machine: seeing, stopping, recording, and forbidden
/// operations.
const PROGRAM: &[&str] = &["control::", "audit::", "forbidden::", "emergency::", "stop::"];

/// In the order in which they run, the quick and telling ones first.
const FULL: &[(&str, &str, &[&str])] = &[
    ("exec-wire", "roundtrip", &[]),
    ("exec-local", "conformance", &[]),
    ("exec-local", "leaks", &[]),
    ("agentctl", "cli", PROGRAM),
    ("exec-podman", "conformance", &[]),
    ("exec-docker", "conformance", &[]),
];

const SMOKE: &[(&str, &str, &[&str])] =
    &[("exec-local", "conformance", &["limits::", "required::"]), ("agentctl", "cli", &["control::"])];

impl Suite {
    /// All of them, on this processor: with one that is always emulated, those of engines take hours.
    pub(super) fn all(extent: VmExtent, arch: Arch) -> Vec<Self> {
        let rows = match extent {
            VmExtent::Smoke => SMOKE,
            VmExtent::Full => FULL,
        };
        let mut all = Vec::new();
        let is_of_an_engine = |package: &str| ["exec-docker", "exec-podman"].contains(&package);
        for &(package, test, cases) in rows.iter().filter(|row| arch.is_native() || !is_of_an_engine(row.0)) {
            // Docker's socket belongs to root.
            let users =
                RunAs::ALL.into_iter().filter(|user| package != "exec-docker" || *user == RunAs::Root);
            all.extend(users.map(|user| Self { user, package, test, cases }));
        }
        all
    }

    /// Its name, and its selection of cases, if any.
    pub(super) fn what(&self) -> String {
        let cases: Vec<&str> = self.cases.iter().map(|case| case.trim_end_matches(':')).collect();
        let of = if cases.is_empty() { String::new() } else { format!(" ({})", cases.join(", ")) };
        format!("`{}` {}{of}", self.package, self.test)
    }

    /// The line that runs it. `filter` replaces its own selection of cases.
    pub(super) fn script(&self, filter: &[String]) -> String {
        let directory = format!("/srv/tmp/{}-{:?}", file_name(self.package, self.test), self.user);
        let cases: Vec<String> = match filter {
            [] => self.cases.iter().map(|case| format!("'{case}'")).collect(),
            filter => filter.iter().map(|case| format!("'{}'", case.replace('\'', ""))).collect(),
        };
        let test = file_name(self.package, self.test);
        let run = format!("sh {RUN_SUITE} {directory} {} {test} {}", self.user.required(), cases.join(" "));
        match self.user {
            RunAs::Root | RunAs::WithSession => run,
            RunAs::WithoutSession => {
                format!("systemd-run -q --wait --pipe --uid nosession {run}")
            }
        }
    }
}

impl fmt::Display for RunAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "root",
            Self::WithSession => "a user with a session",
            Self::WithoutSession => "a user without a session",
        })
    }
}

/// The name of a test's executable in the machine.
pub(super) fn file_name(package: &str, test: &str) -> String {
    format!("{package}-{test}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R112: every suite runs as each user who can reach its engine.
    #[test]
    fn every_suite_runs_as_each_user_of_its_engine() {
        let all = Suite::all(VmExtent::Full, Arch::X86_64);
        let count = |package: &str| all.iter().filter(|suite| suite.package == package).count();
        assert_eq!((count("exec-podman"), count("exec-docker")), (3, 1));
        assert!(Suite::all(VmExtent::Smoke, Arch::X86_64).len() < all.len());
    }

    #[test]
    fn a_line_is_words_and_quoted_names() {
        let suite = |user| Suite { user, package: "exec-local", test: "conformance", cases: &["limits::"] };
        let script = suite(RunAs::Root).script(&[]);
        assert!(script.contains("exec-local-conformance") && script.contains("limits::"), "{script}");
        assert!(suite(RunAs::WithoutSession).script(&[]).contains("--uid nosession"));
        assert!(suite(RunAs::Root).script(&["a'; b".into()]).contains("a; b"));
    }
}
