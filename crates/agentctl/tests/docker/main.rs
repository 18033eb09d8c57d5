//! `agentctl run --sandbox docker` as its users meet it.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where it fails")]

#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod runs;
#[cfg(target_os = "linux")]
#[path = "../cli/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "shared with the tests of everything else")]
mod support;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use exec_testkit::engine_test;
    let tests = [
        engine_test!(runs::the_hosts_own_programs, "R70"),
        engine_test!(runs::exit_codes_are_the_commands, "R4"),
        engine_test!(runs::the_object_says_what_held, "R3"),
        engine_test!(runs::an_engine_that_is_not_there, "R60 R62"),
        engine_test!(runs::an_interrupt_ends_everything, "R12 R10"),
        engine_test!(runs::files_belong_to_the_owner_of_the_workspace, "R24"),
        engine_test!(runs::a_planted_configuration_has_no_effect, "A38"),
        engine_test!(killed::in_the_middle_of_a_run, "R11 A19"),
        engine_test!(killed::at_a_random_instant, "F1 R11"),
    ];
    exec_testkit::suite("docker", runs::available(), &tests)
}

/// Containers are Linux.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
