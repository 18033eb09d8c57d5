//! Runs one command of an agent in the best available sandbox, and prints the result and the isolation.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::time::Duration;

use agent_exec::{Cmd, ExecOpts, Executor, Result};

#[tokio::main]
async fn main() -> Result<()> {
    let sandbox = agent_exec::auto().await?;
    let opts = ExecOpts::in_workspace(".").with_timeout(Duration::from_secs(60));
    let result = sandbox.run(&Cmd::shell("id; (setsid sleep 1000 &); ls | head -3"), &opts).await?;
    println!("{}", result.stdout.text());
    println!("ended: {:?}, in {:?}", result.ended(), result.outcome.duration);
    println!("isolation: {} by {}", result.outcome.isolation.level, result.outcome.executor);
    for note in &result.outcome.isolation.degraded {
        println!("not held: {note}");
    }
    Ok(()) // and nothing it started is alive
}
