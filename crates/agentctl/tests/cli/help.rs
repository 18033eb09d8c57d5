//! What teaches: help, manual pages, completions.

use rstest::rstest;

use crate::support::Place;

fn text(args: &[&str]) -> String {
    let output = Place::new().output(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_first_page() {
    insta::assert_snapshot!(text(&["--help"]));
}

/// Short is short: one screen's worth of lines, each a sentence.
#[test]
fn the_options_of_run_in_short() {
    insta::assert_snapshot!(text(&["run", "-h"]));
}

#[rstest]
#[case::run("run")]
#[case::shell("shell")]
#[case::bootstrap("bootstrap-docker")]
#[case::completions("completions")]
#[case::man("man")]
fn every_command_has_examples(#[case] command: &str) {
    let help = text(&[command, "--help"]);
    assert!(help.contains("Examples:\n  agentctl"), "{help}");
}

#[rstest]
#[case("bash")]
#[case("zsh")]
#[case("fish")]
#[case("elvish")]
#[case("powershell")]
fn shells_complete_our_options(#[case] shell: &str) {
    let script = text(&["completions", shell]);
    assert!(script.contains("min-isolation"), "{script}");
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let place = Place::new();
    assert!(text(&["man"]).contains(".TH agentctl 1"));
    let output = place.output(["man", place.path().to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    for name in ["agentctl", "agentctl-run", "agentctl-shell", "agentctl-completions", "agentctl-man"] {
        let page = std::fs::read_to_string(place.path().join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".TH") && page.contains("SYNOPSIS"), "{name}: {page}");
    }
    let nowhere = place.output(["man", "/no/such/directory"]);
    let said = String::from_utf8_lossy(&nowhere.stderr);
    assert_eq!(nowhere.status.code(), Some(125), "{said}");
    assert!(said.contains("/no/such/directory") && said.contains("try: "), "{said}");
}
