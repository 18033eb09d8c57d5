//! A third party's backend keeps the contract of `Executor`, chosen by `auto` as an orchestrator would choose it.

use std::process::ExitCode;

#[cfg(target_os = "linux")]
#[path = "../custom_backend.rs"]
#[expect(dead_code, reason = "its `main` is the example's")]
mod custom_backend;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use std::sync::Arc;

    use exec_testkit::Subject;

    exec_testkit::main(async || {
        let metered = Arc::new(custom_backend::Metered::default());
        // Without a fallback, `auto` means the most preferred backend, which is the one that was added.
        let sandbox = agent_exec::builder().backend(metered).no_fallback().build().await;
        let executor = sandbox.map(|sandbox| sandbox.executor()).map_err(|error| error.to_string());
        vec![Subject { label: "metered".into(), engine: "local", executor }]
    })
}

/// The cases need a program built for Linux.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
