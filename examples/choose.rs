//! Chooses a sandbox with conditions, and shows the candidates, the choice and why the others were rejected.
//!
//! Try it with `DOCKER_HOST=unix:///nowhere`, and with the name of a sandbox as its argument.
#![expect(clippy::print_stdout, reason = "an example shows its result")]

use agent_exec::{ExecOpts, Executor, Found, IsolationLevel, Result};

#[tokio::main]
async fn main() -> Result<()> {
    let wanted = std::env::args().nth(1).unwrap_or_else(|| "auto".to_owned());
    let sandbox = agent_exec::builder()
        .sandbox(wanted)
        .min_isolation(IsolationLevel::Namespaces)
        .first_run(ExecOpts::in_workspace("."))
        .build()
        .await?;
    for evidence in sandbox.evidence() {
        match &evidence.found {
            Found::Works { isolation, engine: Some(engine) } => {
                println!("{}: {engine} at {}, isolation {isolation}", evidence.executor, engine.at);
            }
            Found::Works { isolation, engine: None } => {
                println!("{}: isolation {isolation}", evidence.executor);
            }
            Found::Missing { reason, remedy } => {
                println!("{}: {reason}; to have it, {remedy}", evidence.executor);
            }
            Found::NotTried => println!("{}: not looked for", evidence.executor),
        }
    }
    println!("chosen: {}", sandbox.name());
    Ok(())
}
