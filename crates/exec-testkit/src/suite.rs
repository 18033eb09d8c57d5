//! Tests of one engine's own, beside the conformance cases: shown as ignored where the engine is missing, as failed where
//! it is required.

use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use crate::backend::Requirement;
use crate::took::Took;
use crate::{CaseFuture, Skip};

/// None takes this long unless it hangs.
const LIMIT: Duration = Duration::from_secs(600);

/// One test.
#[derive(Debug, Clone, Copy)]
pub struct EngineTest {
    /// Its name.
    pub name: &'static str,
    /// The requirements, attacks and faults it shows.
    pub shows: &'static str,
    /// Shows it.
    pub run: fn() -> CaseFuture,
}

/// A test from its function and what it shows.
#[macro_export]
macro_rules! engine_test {
    ($($path:ident)::+, $shows:literal) => {
        $crate::EngineTest {
            name: stringify!($($path)::+),
            shows: $shows,
            run: || ::std::boxed::Box::pin($($path)::+()),
        }
    };
    // The same test on a sandbox by its name, which it is called with.
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

/// The `main` of an engine's own tests. `available` says why the engine is missing, if it is.
pub fn suite(engine: &'static str, available: Result<(), String>, tests: &[EngineTest]) -> ExitCode {
    let arguments = Arguments::from_args();
    let required = Requirement::from_env().names(engine);
    let available = Arc::new(available);
    let trials = tests.iter().map(|test| trial(*test, engine, required, Arc::clone(&available))).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Skips what needs a sandbox that is not there; an error where it is required. This machine's own always is.
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

/// Each in a runtime of its own, which ends with it.
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
