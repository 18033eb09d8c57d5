//! What runs in the machine, as whom. Data, and the line of shell that each becomes.

use std::fmt;

use crate::args::{Arch, VmExtent};

/// The script on the disk with the tests that runs one of them.
const RUN_SUITE: &str = "/srv/agentctl/run-suite.sh";

/// Who runs a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// In a login session.
    Root,
    /// An ordinary user in a login session.
    WithSession,
    /// An ordinary user in a service of the system's: without a login, and so without a systemd of its own.
    WithoutSession,
}

impl Who {
    const ALL: [Self; 3] = [Self::Root, Self::WithSession, Self::WithoutSession];

    /// Who logs in for it.
    pub(super) fn login(self) -> &'static str {
        match self {
            Self::Root | Self::WithoutSession => "root",
            Self::WithSession => "user",
        }
    }

    /// What must hold: a claim that is not made would only be reported as such.
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
    pub(super) who: Who,
    package: &'static str,
    test: &'static str,
    /// Parts of the names of the cases that run; none is all.
    cases: &'static [&'static str],
}

/// The program's tests that depend on who runs them and where: seeing, stopping, recording, and what must not be possible.
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
            // Docker's socket is root's.
            let users = Who::ALL.into_iter().filter(|who| package != "exec-docker" || *who == Who::Root);
            all.extend(users.map(|who| Self { who, package, test, cases }));
        }
        all
    }

    /// Its name, and which of its cases run where it is not all of them.
    pub(super) fn what(&self) -> String {
        let cases: Vec<&str> = self.cases.iter().map(|case| case.trim_end_matches(':')).collect();
        let of = if cases.is_empty() { String::new() } else { format!(" ({})", cases.join(", ")) };
        format!("`{}` {}{of}", self.package, self.test)
    }

    /// The line that runs it. `filter` replaces its own choice of cases.
    pub(super) fn script(&self, filter: &[String]) -> String {
        let directory = format!("/srv/tmp/{}-{:?}", file_name(self.package, self.test), self.who);
        let cases: Vec<String> = match filter {
            [] => self.cases.iter().map(|case| format!("'{case}'")).collect(),
            filter => filter.iter().map(|case| format!("'{}'", case.replace('\'', ""))).collect(),
        };
        let test = file_name(self.package, self.test);
        let run = format!("sh {RUN_SUITE} {directory} {} {test} {}", self.who.required(), cases.join(" "));
        match self.who {
            Who::Root | Who::WithSession => run,
            Who::WithoutSession => {
                format!("systemd-run -q --wait --pipe --uid nosession {run}")
            }
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "root",
            Self::WithSession => "a user with a session",
            Self::WithoutSession => "a user without a session",
        })
    }
}

/// What a test's executable is called in the machine.
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
        let suite = |who| Suite { who, package: "exec-local", test: "conformance", cases: &["limits::"] };
        let script = suite(Who::Root).script(&[]);
        assert!(script.contains("exec-local-conformance") && script.contains("limits::"), "{script}");
        assert!(suite(Who::WithoutSession).script(&[]).contains("--uid nosession"));
        assert!(suite(Who::Root).script(&["a'; b".into()]).contains("a; b"));
    }
}
