//! The example orchestrator, with eight agents on worktrees of one repository.

#![expect(clippy::unwrap_used, reason = "a test ends where it fails")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use exec_testkit::engine_test;
use tempfile::TempDir;

fn main() -> ExitCode {
    let tests = [
        engine_test!("local", commits_are_seen_and_hooks_are_not_run, "R25 R103 A13"),
        engine_test!("docker", commits_are_seen_and_hooks_are_not_run, "R25 R103 A13"),
        engine_test!("local", killed_it_leaves_nothing, "R11 A19"),
        engine_test!("docker", killed_it_leaves_nothing, "R11 A19"),
    ];
    exec_testkit::suite("local", git_works(), &tests)
}

const AGENTS: usize = 8;

fn git_works() -> Result<(), String> {
    Command::new("git").arg("--version").output().map(drop).map_err(|error| format!("no git: {error}"))
}

struct Repository {
    dir: TempDir,
}

impl Repository {
    fn new() -> Result<Self> {
        let repository = Self { dir: tempfile::tempdir()? };
        std::fs::create_dir(repository.path())?;
        repository.git(&["init", "--quiet"])?;
        std::fs::write(repository.path().join("README"), "shared\n")?;
        repository.git(&["add", "--all"])?;
        repository.git(&["commit", "--quiet", "--message", "Begin"])?;
        Ok(repository)
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("repository")
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        let identity = ["-c", "user.name=Architect", "-c", "user.email=a@example.org"];
        let output = Command::new("git").args(identity).args(args).current_dir(self.path()).output()?;
        ensure!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn orchestrator(&self, sandbox: &str, script: Option<&str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orchestrator"));
        command
            .arg(self.path())
            .arg(AGENTS.to_string())
            .args(script)
            .env("SANDBOX", sandbox)
            .stdin(Stdio::null());
        command
    }
}

/// R25, R103, A13: all at once, each in its own sandbox; the host's git sees their commits and runs none of their
/// hooks.
fn commits_are_seen_and_hooks_are_not_run(sandbox: &str) -> Result<()> {
    let repository = Repository::new()?;
    let output = repository.orchestrator(sandbox, None).output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    ensure!(said.contains("8 of 8 agents are done; 0 sessions"), "{said}");
    ensure!(said.matches("no hook could be left behind").count() == AGENTS, "{said}");
    for number in 1..=AGENTS {
        let subject = repository.git(&["log", "-1", "--format=%an: %s", &format!("agent-{number}")])?;
        ensure!(subject == format!("agent-{number}: Work of agent-{number}\n"), "{subject}");
        ensure!(said.contains(&format!("agent-{number}.txt | 1 +")), "{said}");
    }
    repository.git(&["checkout", "--quiet", "-b", "merged", "agent-1"])?;
    let hook = |dir: &Path| dir.join(".git/hooks/post-checkout").exists();
    ensure!(!hook(&repository.path()), "a hook was left behind");
    Ok(())
}

/// R11, A19: when it is killed in the middle, no agent's process survives.
fn killed_it_leaves_nothing(sandbox: &str) -> Result<()> {
    let repository = Repository::new()?;
    let marker = format!("9{:09}", std::process::id() * 10 + u32::from(sandbox == "docker"));
    let script = format!("(setsid setsid sleep {marker} &); exec sleep {marker}");
    let mut orchestrator = repository.orchestrator(sandbox, Some(&script)).stdout(Stdio::null()).spawn()?;
    let all = wait_until(Duration::from_secs(60), || sleepers(&marker) == 2 * AGENTS);
    kill(&mut orchestrator)?;
    ensure!(all, "the control: 16 processes should be there");
    ensure!(wait_until(Duration::from_secs(1), || sleepers(&marker) == 0), "{} are alive", sleepers(&marker));
    Ok(())
}

fn kill(child: &mut Child) -> Result<()> {
    child.kill()?;
    child.wait()?;
    Ok(())
}

fn sleepers(marker: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let wanted = format!("sleep\0{marker}\0");
    lines.filter(|line| line == wanted.as_bytes()).count()
}

fn wait_until(limit: Duration, holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        if holds() {
            return true;
        }
        if begun.elapsed() > limit {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
