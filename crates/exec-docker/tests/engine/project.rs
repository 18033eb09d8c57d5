//! A project's own tests, run as an agent would.

use std::time::Duration;

use anyhow::{Result, ensure};
use exec_core::{Cmd, Ended, ExecOpts, Executor, WorkspaceMode};

use crate::support::{ensure_nothing_is_left, executor, workspace};

const TEST: &str = r#"
import pathlib, tempfile, unittest

class Project(unittest.TestCase):
    def test_scratch_space(self):
        with tempfile.TemporaryDirectory() as scratch:
            (pathlib.Path(scratch) / "x").write_text("y")

    def test_the_sources_stay(self):
        with self.assertRaises(OSError):
            pathlib.Path("test_project.py").write_text("")

if __name__ == "__main__":
    unittest.main()
"#;

/// R21, R82: read-only sources, a private `/tmp`, the exit code and the log.
pub(crate) async fn tests_run_on_a_read_only_workspace() -> Result<()> {
    let dir = workspace(1000)?;
    std::fs::write(dir.path().join("test_project.py"), TEST)?;
    let opts = ExecOpts::in_workspace(dir.path())
        .with_workspace_mode(WorkspaceMode::ReadOnly { writable: Vec::new() })
        .with_env("PYTHONDONTWRITEBYTECODE", "1");
    let executor = executor(0).await?;
    let passed = executor.run(&Cmd::new("python3").args(["-m", "unittest", "-v"]), &opts).await?;
    ensure!(passed.success() && passed.stderr.text().contains("Ran 2 tests"), "{}", passed.stderr.text());
    let failed = executor.run(&Cmd::new("python3").args(["-m", "unittest", "nothing"]), &opts).await?;
    ensure!(failed.outcome.exit_code() == Some(1), "{:?}", failed.outcome);
    ensure!(failed.stderr.text().contains("ModuleNotFoundError"), "{}", failed.stderr.text());
    ensure!(std::fs::read_dir(dir.path())?.count() == 1, "something was written");
    ensure_nothing_is_left(dir.path()).await
}

/// R40
pub(crate) async fn a_time_out_is_honoured() -> Result<()> {
    let dir = workspace(1000)?;
    let opts = ExecOpts::in_workspace(dir.path())
        .with_timeout(Duration::from_millis(300))
        .with_grace(Duration::ZERO);
    let result = executor(0).await?.run(&Cmd::shell("echo begun; sleep 600"), &opts).await?;
    ensure!(
        result.outcome.ended == Ended::TimedOut && result.stdout.text() == "begun\n",
        "{:?}",
        result.outcome
    );
    ensure_nothing_is_left(dir.path()).await
}
