//! Running commands, as `agentctl ps` reports them.

use std::process::Output;

use serde_json::Value;

use super::Place;

/// All its output.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

pub(crate) fn ps(place: &Place) -> Value {
    let output = place.output(["ps", "--json"]);
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Names of all runs.
pub(crate) fn runs(place: &Place) -> Vec<String> {
    let object = ps(place);
    let cells = object["cells"].as_array().unwrap();
    let runs = cells.iter().flat_map(|cell| cell["runs"].as_array().unwrap());
    runs.map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}
