//! A46: text that agentctl did not write is shown and never obeyed, whatever its source and destination.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Output;

use crate::support::{Place, said};

/// A title, a clear, a control beyond ASCII, an override of the direction, and a line that imitates a message
/// of ours.
const HOSTILE: &str = "x\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\r\n2026-01-01T00:00:00.000Z INFO forged\nagentctl: forged";

fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c)
}

fn assert_shown(what: &str, text: &str) {
    assert!(!text.contains(is_obeyed), "{what}: {text:?}");
    let begins = |line: &str| {
        line.starts_with("agentctl: forged") || line.contains("Z INFO forged") && line.starts_with("2026-01")
    };
    assert!(!text.lines().any(begins), "{what}: {text:?}");
}

fn assert_harmless(what: &str, output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
    assert_shown(what, &text[0]);
    assert_shown(what, &text[1]);
    text.concat()
}

/// A46: manifests in which every word is hostile; the files generated from them are harmless too.
#[test]
fn of_a_projects_files() {
    let json = serde_json::to_string(HOSTILE).unwrap();
    let raw = HOSTILE.replace('\n', " ");
    let manifests = [
        (
            "Cargo.toml",
            format!(
                "[package]\nname = {json}\nversion = {json}\nrust-version = {json}\n[dependencies]\n{json} = \"1\"\n"
            ),
        ),
        ("Cargo.toml", format!("[package]\nname = \"{HOSTILE}\"\n")),
        ("Cargo.toml", "[package]\nname = \"x\"\n[workspace]\nmembers = [\"a\\u001b[2J\"]\n".to_owned()),
        ("rust-toolchain.toml", format!("[toolchain]\nchannel = {json}\n")),
        (
            "package.json",
            format!(
                "{{\"name\":{json},\"packageManager\":{json},\"engines\":{{\"node\":{json}}},\"scripts\":{{\"start\":{json}}},\"dependencies\":{{{json}:{json}}}}}"
            ),
        ),
        (
            "pyproject.toml",
            format!("[project]\nname = {json}\nrequires-python = {json}\ndependencies = [{json}]\n"),
        ),
        ("requirements.txt", raw.clone()),
        ("go.mod", format!("module {raw}\n\ngo 1.22{raw}\n")),
        (".python-version", raw.clone()),
        (".nvmrc", raw),
    ];
    for (name, text) in manifests {
        let place = Place::new();
        place.file("go.mod", "module example.com/app\n\ngo 1.22\n");
        place.file(name, &text);
        fs::create_dir(place.path().join("a\u{1b}[2J")).unwrap();
        place.file("a\u{1b}[2J/go.mod", "module x\n\ngo 1.22\n");
        let options: [&[&str]; 5] = [&["--explain"], &["--stdout"], &["--check"], &[], &["--compose"]];
        for options in options {
            let output = place.output(["bootstrap-docker"].iter().chain(options));
            assert_harmless(&format!("{name} {options:?}"), &output);
        }
        for made in ["Dockerfile", "Dockerfile.dev", ".dockerignore", "docker-compose.yml"] {
            if let Ok(text) = fs::read_to_string(place.path().join(made)) {
                assert_shown(&format!("{made} of {name}"), &text);
            }
        }
    }
}

/// A46: a command chooses the target of a link in the workspace, so the target is quoted.
#[test]
fn of_a_write_path() {
    let place = Place::new();
    let inside = HOSTILE.replace('/', "");
    fs::create_dir(place.path().join(&inside)).unwrap();
    symlink(&inside, place.path().join("out")).unwrap();
    for option in ["--write-path", "--cwd"] {
        let output = place.output(["run", option, "out", "--", "true"]);
        assert_harmless(option, &output);
    }
    let output = place.output(["run", "--write-path", "out", "--", "true"]);
    assert!(said(&output).contains("through a link") && said(&output).contains("[2J"), "{}", said(&output));
}

/// A46: every line of a worker's log begins with its time, whatever the names of the command and the
/// workspace.
#[test]
fn of_a_workers_log() {
    let place = Place::new();
    let named = place.path().join(format!("work{}", HOSTILE.replace('/', "")));
    fs::create_dir(&named).unwrap();
    let workspace = [OsStr::new("--workspace"), named.as_os_str()];
    let hostile = [["--", HOSTILE], ["--", "true"]];
    for command in hostile {
        let command = command.map(OsStr::new);
        let run = ["run", "--log", "worker", "--verbose"].map(OsStr::new);
        let output = place.output(run.iter().chain(&workspace).chain(&command));
        let text = assert_harmless("a worker's log", &output);
        assert!(text.contains("Execution context"), "the control: {text}");
        for line in text.lines() {
            assert!(line.trim_start().starts_with("20") && line.contains('Z'), "{line:?} of {text}");
        }
    }
}

/// A46: invalid arguments are quoted too, and so are the log messages of libraries.
#[test]
fn of_arguments_and_logs() {
    let place = Place::new();
    let option = format!("--{HOSTILE}");
    for args in [&["run", &option, "--", "true"][..], &["run", "--memory", HOSTILE, "--", "true"], &[HOSTILE]]
    {
        assert_harmless("arguments", &place.output(args));
    }
    let output = place.agentctl(["run", "--", HOSTILE]).env("RUST_LOG", "trace").output().unwrap();
    let text = assert_harmless("a log", &output);
    assert!(text.contains("TRACE") || text.contains("DEBUG"), "the control: {text}");
    let output = place.output(["run", "--json", "--", "printf", HOSTILE]);
    let text = assert_harmless("an object", &output);
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(object["stdout"]["text"].as_str().or(object["stdout"].as_str()), Some(HOSTILE), "{text}");
}

/// A46: the contents of configuration files.
#[test]
fn of_configuration() {
    let place = Place::new();
    place.file(
        ".agentctl.yaml",
        &format!("image: {}\nnonsense: 1\n", serde_json::to_string(HOSTILE).unwrap()),
    );
    for args in [
        &["config", "show"][..],
        &["config", "check", ".agentctl.yaml"],
        &["config", "trust"],
        &["run", "--", "true"],
    ] {
        let output = place.output(args);
        assert_harmless(&format!("{args:?}"), &output);
        assert!(!said(&output).is_empty() || !output.stdout.is_empty(), "the control: {args:?}");
    }
}
