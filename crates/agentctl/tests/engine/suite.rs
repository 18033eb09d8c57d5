//! The tests of every engine.

use exec_testkit::{EngineTest, engine_test};

use crate::{build, directory, emergency, gc, hostile, images, killed, runs};

pub(crate) const ALL: [EngineTest; 33] = [
    engine_test!(runs::the_hosts_own_programs, "R70"),
    engine_test!(runs::exit_codes_are_the_commands, "R4"),
    engine_test!(runs::the_object_reports_the_isolation, "R3"),
    engine_test!(runs::a_missing_engine, "R60 R62"),
    engine_test!(runs::the_other_engine_is_never_contacted, "R60"),
    engine_test!(runs::the_other_engine_in_its_place_is_refused, "R60 R62"),
    engine_test!(runs::an_interrupt_ends_everything, "R12 R10"),
    engine_test!(runs::a_gibibyte_passes_in_bounded_memory, "A31"),
    engine_test!(runs::secrets_in_shown_directories_are_masked, "A49"),
    engine_test!(runs::files_belong_to_the_owner_of_the_workspace, "R24"),
    engine_test!(runs::a_planted_configuration_has_no_effect, "A38"),
    engine_test!(runs::own_places_stay_out_of_reach, "A40"),
    engine_test!(directory::helpers_work_in_the_root_directory, "A42"),
    engine_test!(directory::a_link_planted_for_an_engine_is_not_followed, "A42"),
    engine_test!(build::built_when_it_has_changed, "R76"),
    engine_test!(build::files_that_appear_later_do_not_count, "A43"),
    engine_test!(build::changes_before_the_build_do_not_count, "A4 A43"),
    engine_test!(build::one_build_for_callers_at_the_same_time, "R76"),
    engine_test!(build::only_on_request, "R76 A38"),
    engine_test!(build::the_output_of_a_failed_build_is_shown, "A46"),
    engine_test!(build::a_planted_program_is_not_used, "A32"),
    engine_test!(hostile::runs_and_builds, "R29 A43"),
    engine_test!(build::a_hostile_project_is_built_all_the_same, "A43"),
    engine_test!(build::a_deep_project_is_refused, "A43"),
    engine_test!(images::prune_removes_our_unused_images, "R76 A37"),
    engine_test!(images::an_image_made_by_a_run_is_ours, "R76"),
    engine_test!(images::a_pull_shows_progress_and_the_digest, "R76"),
    engine_test!(gc::volumes_and_networks_of_dead_owners_are_removed, "R15 A37"),
    engine_test!(emergency::while_loops_keep_starting_runs, "R14"),
    engine_test!(emergency::labels_of_an_image_make_no_container_ours, "R14 A37"),
    engine_test!(emergency::amid_owners_that_are_killed, "R14 F1"),
    engine_test!(killed::in_the_middle_of_a_run, "R11 A19"),
    engine_test!(killed::at_a_random_instant, "F1 R11"),
];
