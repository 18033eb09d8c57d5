//! Several agents at once, each on its own git worktree and in its own sandbox, and an architect who reviews their
//! work with the host's git.
//!
//! `orchestrator REPOSITORY [AGENTS [SCRIPT]]`: the script stands for the work of a model. Ctrl-C stops all agents,
//! and so does killing this program.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows its result")]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use agent_exec::{
    Cmd, Error, ErrorKind, ExecOpts, ExecResult, Executor, IsolationLevel, Result, Sandbox, SessionName,
};
use tokio::task::JoinSet;

/// The default work of an agent: it changes something, tests it and commits it. It also tries something forbidden: to
/// leave behind a hook that the architect's git would run.
const SCRIPT: &str = r#"
set -e
echo "work of $AGENT" > "$AGENT.txt"
grep -q "$AGENT" "$AGENT.txt"
git add --all
git -c user.name="$AGENT" -c user.email="$AGENT@example.org" commit --quiet --message "Work of $AGENT"
hooks=$(git rev-parse --git-path hooks)
(mkdir -p "$hooks" && printf '#!/bin/sh\ntouch /tmp/hooked\n' > "$hooks/post-checkout" && chmod +x "$hooks/post-checkout") \
    2>/dev/null || echo "no hook could be left behind"
"#;

/// One agent: its name, its worktree and its sandbox.
struct Agent {
    name: String,
    worktree: PathBuf,
    session: SessionName,
}

#[tokio::main]
async fn main() -> ExitCode {
    match orchestrate().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            if let Some(remedy) = error.remedy() {
                eprintln!("  try: {remedy}");
            }
            ExitCode::FAILURE
        }
    }
}

async fn orchestrate() -> Result<ExitCode> {
    let mut args = std::env::args().skip(1);
    let repository = PathBuf::from(args.next().unwrap_or_else(|| ".".to_owned()));
    let count: usize = args.next().and_then(|count| count.parse().ok()).unwrap_or(8);
    let script = args.next().unwrap_or_else(|| SCRIPT.to_owned());

    let wanted = std::env::var("SANDBOX").unwrap_or_else(|_| "auto".to_owned());
    let builder = agent_exec::builder().sandbox(wanted).min_isolation(IsolationLevel::Namespaces);
    let sandbox = Arc::new(builder.build().await?);
    let health = sandbox.health().await?;
    println!("{} works; {} sessions", sandbox.name(), health.sessions);

    let agents = (1..=count).map(|number| hire(&repository, number)).collect::<Result<Vec<_>>>()?;
    let mut at_work = JoinSet::new();
    for agent in agents {
        let (sandbox, script) = (Arc::clone(&sandbox), script.clone());
        at_work.spawn(async move {
            let result = work(&sandbox, &agent, &script).await;
            // In any case nothing of this agent is running any more.
            let ended = sandbox.end_session(&agent.session).await;
            (agent, result.and_then(|result| ended.map(|()| result)))
        });
    }
    let mut failed = 0;
    loop {
        let done = tokio::select! {
            done = at_work.join_next() => done,
            _ = tokio::signal::ctrl_c() => {
                // Dropping a run kills it, with everything it started.
                at_work.shutdown().await;
                println!("stopped");
                return Ok(ExitCode::FAILURE);
            }
        };
        match done {
            None => break,
            Some(Ok((agent, Ok(result)))) if result.success() => review(&repository, &agent, &result)?,
            Some(Ok((agent, Ok(result)))) => {
                failed += 1;
                println!("{}: {:?}: {}", agent.name, result.ended(), result.stderr.text());
            }
            Some(Ok((agent, Err(error)))) => {
                failed += 1;
                println!("{}: {error}", agent.name);
            }
            Some(Err(panicked)) => {
                failed += 1;
                println!("an agent's task ended badly: {panicked}");
            }
        }
    }
    println!("{} of {count} agents are done; {} sessions", count - failed, sandbox.health().await?.sessions);
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Creates a worktree next to the repository, on a branch of the agent's own.
fn hire(repository: &Path, number: usize) -> Result<Agent> {
    let name = format!("agent-{number}");
    let place = repository.canonicalize().unwrap_or_else(|_| repository.to_owned());
    let worktree = PathBuf::from(format!("{}-agents", place.display())).join(&name);
    git(&place, &["worktree", "add", "--quiet", "-b", &name, &worktree.display().to_string()])?;
    Ok(Agent { session: SessionName::new(&name), name, worktree })
}

async fn work(sandbox: &Sandbox, agent: &Agent, script: &str) -> Result<ExecResult> {
    let opts = ExecOpts::in_workspace(&agent.worktree)
        .in_session(agent.session.clone())
        .with_env("AGENT", &agent.name);
    sandbox.run(&Cmd::shell(script), &opts).await
}

/// The architect: prints the changes as the host's git sees them.
fn review(repository: &Path, agent: &Agent, result: &ExecResult) -> Result<()> {
    let changes = git(repository, &["diff", "--stat", &format!("HEAD...{}", agent.name)])?;
    let said = result.stdout.text();
    println!(
        "{} ({}): {}{}",
        agent.name,
        result.outcome.isolation.level,
        said.replace('\n', "; "),
        changes.trim()
    );
    Ok(())
}

/// Git on the host.
fn git(directory: &Path, args: &[&str]) -> Result<String> {
    let failed = |why: String| {
        Error::new(ErrorKind::Io, "git", format!("git {} failed: {why}", args.join(" ")))
            .with_context("directory", directory.display())
            .with_remedy("name a git repository that has a commit and no branches `agent-N`")
    };
    let output = Command::new("git")
        .args(args)
        .current_dir(directory)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }
}
