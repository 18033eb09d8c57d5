//! `agentctl run --sandbox docker` as its users meet it.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test ends where it fails")]

#[cfg(target_os = "linux")]
mod auto;
#[cfg(target_os = "linux")]
mod doctor;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod runs;
#[cfg(target_os = "linux")]
#[path = "../cli/support/mod.rs"]
#[expect(dead_code, reason = "shared with the tests of everything else")]
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
        engine_test!(auto::docker_is_taken, "R62 R3"),
        engine_test!(auto::the_banner_says_docker, "R64"),
        engine_test!(auto::a_workers_log_says_enabled, "R64"),
        engine_test!(auto::an_image_that_cannot_be_had, "R62"),
        engine_test!(auto::enable_docker_is_false, "R63 R64"),
        engine_test!(doctor::docker_only, "R65"),
        engine_test!(doctor::no_engine, "R65"),
        engine_test!(doctor::a_socket_of_somebody_else, "R65 R60"),
        engine_test!(doctor::inside_a_container, "R65"),
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
