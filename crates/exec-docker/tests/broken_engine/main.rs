//! The engine itself is killed, stopped or full. The tests use private engines, never the machine's.

#[cfg(target_os = "linux")]
mod create;
#[cfg(target_os = "linux")]
mod emergency;
#[cfg(target_os = "linux")]
mod engine;
#[cfg(target_os = "linux")]
mod full;
#[cfg(target_os = "linux")]
mod image;
#[cfg(target_os = "linux")]
mod leftovers;
#[cfg(target_os = "linux")]
mod orchestrator;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod restart;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod support;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use exec_testkit::engine_test;
    if let Some(code) = orchestrator::task() {
        return code;
    }
    let tests = [
        engine_test!(run::the_engine_is_killed, "F4 R10"),
        engine_test!(run::the_engine_is_stopped_and_the_run_is_cancelled, "F4 R10"),
        engine_test!(run::the_engine_is_stopped_and_the_deadline_passes, "F4 R10"),
        engine_test!(run::the_engine_is_stopped_and_not_needed, "F4 R10"),
        engine_test!(orchestrator::is_killed_while_the_engine_is_stopped, "F1 F4 R11"),
        engine_test!(emergency::while_the_engine_is_stopped, "R14 F4"),
        engine_test!(emergency::strangers_stay, "R13 A37"),
        engine_test!(emergency::the_script_needs_no_agentctl, "R14"),
        engine_test!(create::the_engine_is_killed, "F4 R15"),
        engine_test!(create::the_engine_is_stopped, "F4 R15"),
        engine_test!(restart::the_same_executor_continues, "F4"),
        engine_test!(leftovers::only_those_of_dead_owners_are_removed, "R15 A37 F12"),
        engine_test!(image::the_host_image_is_made_again, "F6 R70"),
        engine_test!(image::the_host_image_is_made_once, "R70"),
        engine_test!(full::no_room_for_an_image, "F7"),
        engine_test!(full::no_room_for_a_container, "F7"),
    ];
    exec_testkit::suite("docker", engine::available(), &tests)
}

/// Engines run on Linux.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
