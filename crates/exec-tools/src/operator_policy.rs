//! The operator's limits, and how a model's arguments narrow them. Nothing here can widen them.

use std::path::{Component, Path};
use std::time::Duration;

use exec_core::{Cmd, Error, ErrorKind, ExecOpts, Limit, OwnPlaces, Plan, Result, SessionName, Stdin};

use crate::Bounds;

/// The operator's options, checked once.
#[derive(Debug)]
pub(crate) struct OperatorPolicy {
    opts: ExecOpts,
    plan: Plan,
    bounds: Bounds,
    session: Option<SessionName>,
}

impl OperatorPolicy {
    /// Refuses invalid options. With a session, every command runs in it.
    pub(crate) fn new(opts: ExecOpts, bounds: Bounds, session: Option<SessionName>) -> Result<Self> {
        let opts = match &session {
            Some(name) => opts.in_session(name.clone()),
            None => opts,
        };
        // No run has this plan: it describes what the operator allows, and each command is resolved when it runs.
        let plan = Plan::resolve(&Cmd::new("true"), &opts, std::env::vars_os(), OwnPlaces::here())?;
        Ok(Self { opts, plan, bounds, session })
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn opts(&self) -> &ExecOpts {
        &self.opts
    }

    pub(crate) fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    pub(crate) fn session(&self) -> Option<&SessionName> {
        self.session.as_ref()
    }

    /// The longest run of a foreground command.
    pub(crate) fn longest(&self) -> Option<Duration> {
        self.plan.limits.timeout
    }

    /// The longest run of a background command. The preset's timeout is meant for foreground commands only.
    pub(crate) fn longest_in_background(&self) -> Option<Duration> {
        match self.opts.limits.timeout {
            Limit::Exactly(time) => Some(time),
            Limit::Preset | Limit::Unlimited => None,
        }
    }

    /// Options of a foreground command.
    pub(crate) fn waited_for(&self, cwd: Option<&str>, seconds: Option<f64>) -> Result<ExecOpts> {
        self.narrowed(cwd, seconds, self.longest())
    }

    /// Options of a background command.
    pub(crate) fn in_background(&self, cwd: Option<&str>, seconds: Option<f64>) -> Result<ExecOpts> {
        Ok(self.narrowed(cwd, seconds, self.longest_in_background())?.with_stdin(Stdin::Stream))
    }

    fn narrowed(
        &self,
        cwd: Option<&str>,
        seconds: Option<f64>,
        longest: Option<Duration>,
    ) -> Result<ExecOpts> {
        let mut opts = self.opts.clone();
        if let Some(cwd) = cwd {
            opts.cwd = Some(self.within(cwd)?.to_owned());
        }
        let asked = seconds.map(duration).transpose()?;
        opts.limits.timeout = match (asked, longest) {
            (Some(asked), Some(longest)) if asked > longest => {
                return Err(invalid(format!(
                    "{} s is longer than the operator's limit of {}",
                    asked.as_secs_f64(),
                    humantime::format_duration(longest)
                ))
                .with_remedy("ask for less, or leave timeout_seconds out"));
            }
            (Some(asked), _) => Limit::Exactly(asked),
            (None, Some(_)) => self.opts.limits.timeout,
            (None, None) => Limit::Unlimited,
        };
        Ok(opts)
    }

    /// A directory in the workspace. Every run checks that it exists and that no link leads out.
    fn within<'a>(&self, cwd: &'a str) -> Result<&'a Path> {
        let path = Path::new(cwd);
        let workspace = &self.plan.workspace;
        let stays = !path.components().any(|part| part == Component::ParentDir)
            && (path.is_relative() || path.starts_with(workspace));
        if stays {
            return Ok(path);
        }
        Err(invalid(format!("the directory `{cwd}` is not within the workspace {}", workspace.display()))
            .with_remedy("give a path relative to the workspace, without `..`"))
    }
}

fn duration(seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).ok_or_else(|| {
        invalid(format!("a command can't be given {seconds} s")).with_remedy("give it more than 0 seconds")
    })
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, "call", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(opts: impl FnOnce(ExecOpts) -> ExecOpts) -> (tempfile::TempDir, OperatorPolicy) {
        let workspace = tempfile::tempdir().unwrap();
        let opts = opts(ExecOpts::in_workspace(workspace.path()));
        let policy = OperatorPolicy::new(opts, Bounds::default(), None).unwrap();
        (workspace, policy)
    }

    #[test]
    fn a_shorter_time_is_taken_and_a_longer_one_refused() {
        let (_workspace, policy) = policy(|opts| opts.with_timeout(Duration::from_secs(60)));
        let timeout = |seconds| policy.waited_for(None, seconds).map(|opts| opts.limits.timeout);
        assert_eq!(timeout(Some(5.0)).unwrap(), Limit::Exactly(Duration::from_secs(5)));
        assert_eq!(timeout(None).unwrap(), Limit::Exactly(Duration::from_secs(60)));
        for wrong in [60.1, 0.0, f64::INFINITY, f64::NAN] {
            assert_eq!(timeout(Some(wrong)).unwrap_err().kind(), ErrorKind::InvalidInput, "{wrong}");
        }
        assert!(policy.in_background(None, Some(61.0)).is_err());
    }

    #[test]
    fn the_presets_time_is_not_for_the_background() {
        let (_workspace, policy) = policy(|opts| opts);
        assert_eq!(policy.in_background(None, None).unwrap().limits.timeout, Limit::Unlimited);
        assert!(policy.waited_for(None, Some(301.0)).is_err());
        assert!(policy.in_background(None, Some(301.0)).is_ok());
    }

    /// A36
    #[test]
    fn a_directory_is_within_the_workspace() {
        let (workspace, policy) = policy(|opts| opts);
        let absolute = workspace.path().canonicalize().unwrap().join("src");
        for right in ["src", "./src", absolute.to_str().unwrap()] {
            assert!(policy.waited_for(Some(right), None).is_ok(), "{right}");
        }
        for wrong in ["/", "/etc", "..", "src/../..", "/tmp"] {
            assert!(policy.waited_for(Some(wrong), None).is_err(), "{wrong}");
        }
    }
}
