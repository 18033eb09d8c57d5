//! Tests specific to one engine, next to the conformance cases: listed as ignored where the engine is
//! missing, as failed where it is required.

use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::subject::Requirement;
use crate::took::Took;
use crate::{CaseFuture, Skip};

/// No test takes this long unless it hangs.
const LIMIT: Duration = Duration::from_secs(600);

/// One test.
#[derive(Debug, Clone, Copy)]
pub struct EngineTest {
    /// Its name.
    pub name: &'static str,
    /// The requirements, attacks and faults it covers.
    pub shows: &'static str,
    /// Runs the test.
    pub run: fn() -> CaseFuture,
}

/// A test from its function and the numbers it covers.
#[macro_export]
macro_rules! engine_test {
    ($($path:ident)::+, $shows:literal) => {
        $crate::EngineTest {
            name: stringify!($($path)::+),
            shows: $shows,
            run: || ::std::boxed::Box::pin($($path)::+()),
        }
    };
    // The same test on a sandbox, whose name is passed to it.
    ($sandbox:literal, $test:ident, $shows:literal) => {
        $crate::EngineTest {
            name: concat!($sandbox, "::", stringify!($test)),
            shows: $shows,
            run: || {
                ::std::boxed::Box::pin(async {
                    $crate::need($sandbox)?;
                    $test($sandbox)
                })
            },
        }
    };
}

/// The `main` of an engine's own tests. `available` is the reason if the engine is missing.
pub fn suite(engine: &'static str, available: Result<(), String>, tests: &[EngineTest]) -> ExitCode {
    let arguments = Arguments::from_args();
    let required = Requirement::from_env().names(engine);
    let available = Arc::new(available);
    let trials = tests.iter().map(|test| trial(*test, engine, required, Arc::clone(&available))).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Requires a sandbox. `local` is always available.
///
/// # Errors
///
/// Skips the test if the sandbox is missing, or fails if it is required.
pub fn need(sandbox: &str) -> anyhow::Result<()> {
    let asks = |name| Command::new(name).arg("info").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if sandbox == "local" || asks(sandbox).is_ok_and(|status| status.success()) {
        return Ok(());
    }
    anyhow::ensure!(!Requirement::from_env().names(sandbox), "{sandbox} is required and missing");
    anyhow::bail!(Skip(format!("{sandbox} does not work here")))
}

fn trial(test: EngineTest, engine: &str, required: bool, available: Arc<Result<(), String>>) -> Trial {
    let missing = format!("{engine} is required and missing: ");
    let took = Took::of(test.name);
    Trial::ignorable_test(test.name, move || match &*available {
        Ok(()) => took.say(|| carry_out(test)),
        Err(reason) if required => Err(Failed::from(format!("{missing}{reason}"))),
        Err(reason) => Ok(Completion::ignored_with(format!("missing: {reason}"))),
    })
    .with_kind(test.shows)
}

/// Runs a test in its own runtime, which ends with it.
fn carry_out(test: EngineTest) -> Result<Completion, Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .map_err(Failed::from)?;
    let ended = runtime.block_on(async {
        let task = tokio::spawn((test.run)());
        tokio::time::timeout(LIMIT, task).await
    });
    runtime.shutdown_timeout(Duration::from_secs(10));
    match ended {
        Ok(Ok(Ok(()))) => Ok(Completion::Completed),
        Ok(Ok(Err(error))) => match error.downcast_ref::<Skip>() {
            Some(skip) => Ok(Completion::ignored_with(skip.to_string())),
            None => Err(Failed::from(format!("{error:#}"))),
        },
        Ok(Err(error)) => Err(Failed::from(format!("{} panicked: {error}", test.name))),
        Err(_) => Err(Failed::from(format!("{} has not ended after {LIMIT:?}", test.name))),
    }
}
