//! Runs one command of an agent in a sandbox and says what came of it and which isolation held.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use exec_core::{Cmd, ExecOpts, Executor, Result};
use exec_local::{LocalConfig, LocalExec};

#[tokio::main]
async fn main() -> Result<()> {
    let executor = LocalExec::new(LocalConfig::default()).await?;
    let opts = ExecOpts::in_workspace(".").with_timeout(Duration::from_secs(60));
    let result = executor.run(&Cmd::shell("id; (setsid sleep 1000 &); ls | head -3"), &opts).await?;
    println!("{}", result.stdout.text());
    println!("ended: {:?}, in {:?}", result.ended(), result.outcome.duration);
    println!("isolation: {} by {}", result.outcome.isolation.level, result.outcome.executor);
    for note in &result.outcome.isolation.degraded {
        println!("not held: {note}");
    }
    Ok(()) // and nothing it started is alive
}
