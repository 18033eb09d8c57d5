//! Properties of Docker in particular: from the engine's point of view, next to other containers, in numbers.

#[cfg(target_os = "linux")]
mod agents;
#[cfg(target_os = "linux")]
mod hardening;
#[cfg(target_os = "linux")]
mod images;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod project;
#[cfg(target_os = "linux")]
mod strangers;
#[cfg(target_os = "linux")]
mod support;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use exec_testkit::engine_test;
    let tests = [
        engine_test!(hardening::the_fifo_channel_is_closed_before_a_command_runs, "A12"),
        engine_test!(hardening::an_ordinary_users_cell_as_the_engine_sees_it, "R20 R40 R50"),
        engine_test!(hardening::roots_own_workspace_runs_as_user_0_without_capabilities, "R24"),
        engine_test!(hardening::strict_runs_as_an_unprivileged_user, "R24"),
        engine_test!(hardening::a_swapped_mount_is_refused, "A4"),
        engine_test!(images::removed_and_made_again, "F6 R70"),
        engine_test!(images::a_missing_image_is_named, "R77"),
        engine_test!(images::a_missing_program_is_named, "R77"),
        engine_test!(images::its_digest_and_variables_are_used, "R70"),
        engine_test!(network::a_bridge_reaches_a_server_and_none_does_not, "R30 A20"),
        engine_test!(project::tests_run_on_a_read_only_workspace, "R21 R82"),
        engine_test!(project::a_time_out_is_honoured, "R40"),
        engine_test!(strangers::look_alikes_are_untouched, "A37"),
        engine_test!(strangers::a_removed_cell_is_reported_as_removed, "F6"),
        engine_test!(strangers::a_paused_cell_is_reported_as_paused, "F6"),
        engine_test!(agents::sixteen_at_once, "R103"),
        engine_test!(agents::a_pool_ends_with_its_executor, "R15"),
        engine_test!(agents::a_runtime_that_ends_leaves_no_record, "R15 F1"),
    ];
    exec_testkit::suite("docker", support::available(), &tests)
}

/// Engines run on Linux.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
