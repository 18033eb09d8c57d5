//! What a run takes from files and variables, and what it ignores.

use std::fs;

use crate::support::Place;

/// The output of a shell command and the messages of `agentctl`.
fn run_shell(place: &Place, variables: &[(&str, &str)], options: &[&str], script: &str) -> (String, String) {
    let command = ["--", "sh", "-c", script];
    let mut command = place.agentctl(["run", "--sandbox", "local"].iter().chain(options).chain(&command));
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let (out, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    // An ordinary user is warned in every run about limits that do not hold.
    let about_us = |line: &&str| !line.contains("limits that do not hold here");
    (out, said.lines().filter(about_us).collect::<Vec<_>>().join("\n"))
}

/// R61
#[test]
fn every_format_and_every_layer() {
    let place = Place::new();
    fs::create_dir(place.user().join("agentctl")).unwrap();
    fs::write(place.user().join("agentctl/config.yaml"), "env: {A: user, B: user}\n").unwrap();
    assert_eq!(run_shell(&place, &[], &[], "echo $A $B").0, "user user\n");
    assert_eq!(run_shell(&place, &[], &["--env", "B=flag"], "echo $A $B").0, "user flag\n");
    place.file("own.json", "{\"env\": {\"A\": \"own\"}} // a comment");
    assert_eq!(run_shell(&place, &[], &["--config", "own.json"], "echo $A $B").0, "own\n");
    place.file(".agentctl.toml", "workspace_mode = 'ro'");
    assert_eq!(run_shell(&place, &[], &[], "touch x || echo no").0, "no\n");
    assert_eq!(
        run_shell(&place, &[("AGENTCTL_WORKSPACE_MODE", "rw")], &[], "touch x && echo yes").0,
        "yes\n"
    );
}

/// A38: files that an agent writes into its workspace loosen nothing, in this run or the next.
#[test]
fn a_planted_file_has_no_effect() {
    let place = Place::new();
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("file"), "secret\n").unwrap();
    let network = fs::read_link("/proc/self/ns/net").unwrap().display().to_string();
    let at = secret.path().display();
    let planted = format!("env = [\"TOKEN\"]\nnetwork = \"host\"\nmounts = [\"{at}\"]\n");
    let script = format!("printf '%s' '{}' > .agentctl.toml", planted.replace('\'', "\""));
    let (_, said) = run_shell(&place, &[], &[], &script);
    assert_eq!(fs::read_to_string(place.path().join(".agentctl.toml")).unwrap(), planted, "{said}");

    let look =
        format!("cat {at}/file 2>/dev/null || echo none; echo ${{TOKEN-none}}; readlink /proc/self/ns/net");
    let (seen, said) = run_shell(&place, &[("TOKEN", "t")], &[], &look);
    assert!(seen.starts_with("none\nnone\n") && !seen.contains(&network), "{seen}");
    let directory = place.path().canonicalize().unwrap();
    insta::assert_snapshot!(said.replace(directory.to_str().unwrap(), "[workspace]").replace(&at.to_string(), "[secret]"), @"agentctl: WARN [workspace]/.agentctl.toml is not trusted, and this in it would loosen the sandbox, so it does not count: env (line 1), network (line 2), mounts (line 3); look at it, then say: agentctl config trust '[workspace]/.agentctl.toml'");

    let (object, _) = place.json(&["--sandbox", "local"], &["true"]);
    assert!(object["warnings"][0].as_str().unwrap().contains("config trust"), "{object}");

    assert!(place.output(["config", "trust"]).status.success());
    let (seen, said) = run_shell(&place, &[("TOKEN", "t")], &[], &look);
    assert_eq!(seen, format!("secret\nt\n{network}\n"), "the positive control: {seen}{said}");

    place.file(".agentctl.toml", &format!("{planted}\n"));
    assert!(
        run_shell(&place, &[("TOKEN", "t")], &[], &look).0.starts_with("none\nnone\n"),
        "another content"
    );
}

/// A38: an existing file stays unchanged.
#[test]
fn a_projects_file_is_read_only_inside() {
    let place = Place::new();
    place.file(".agentctl.yaml", "pids: 100\n");
    let attempts = "echo x > .agentctl.yaml || echo 1; rm -f .agentctl.yaml || echo 2; mv .agentctl.yaml y || echo 3; \
                    echo z > z && mv z .agentctl.yaml || echo 4; cat .agentctl.yaml";
    assert_eq!(run_shell(&place, &[], &[], attempts).0, "1\n2\n3\n4\npids: 100\n");
    assert_eq!(fs::read_to_string(place.path().join(".agentctl.yaml")).unwrap(), "pids: 100\n");
}

/// A38: a configuration file named by the caller is read-only as a whole, whatever its name.
#[test]
fn a_named_file_is_read_only_inside_too() {
    let place = Place::new();
    place.file("own.toml", "pids = 100\n");
    let attempts = "echo x > own.toml || rm -f own.toml || echo kept; echo y > other && echo free";
    assert_eq!(run_shell(&place, &[], &["--config", "own.toml"], attempts).0, "kept\nfree\n");
    fs::create_dir(place.path().join("sub")).unwrap();
    place.file("sub/own.toml", "pids = 100\n");
    let attempts = "mv sub away || echo kept; echo y > sub/other && echo free";
    assert_eq!(run_shell(&place, &[], &["--config", "sub/own.toml"], attempts).0, "kept\nfree\n");
}

/// A38: the user's own file may be a link into a directory that a command works on.
#[test]
fn the_users_file_is_not_writable_wherever_it_is() {
    let place = Place::new();
    fs::create_dir(place.user().join("agentctl")).unwrap();
    place.file("dotfile.toml", "pids = 100\n");
    let link = place.user().join("agentctl/config.toml");
    std::os::unix::fs::symlink(place.path().join("dotfile.toml"), link).unwrap();
    assert_eq!(run_shell(&place, &[], &[], "echo x > dotfile.toml || echo kept").0, "kept\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let mount = format!("{}:/dotfiles:rw", place.path().display());
    let mut command = place.agentctl(["run", "--mount", &mount, "--", "true"]);
    let output = command.current_dir(elsewhere.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125));
    assert!(said.contains("a command could write the configuration"), "{said}");
}

/// A38
#[test]
fn the_list_of_trusted_files_is_hidden_inside() {
    let place = Place::new();
    for shown in [place.user().to_owned(), place.user().join("agentctl")] {
        fs::create_dir_all(&shown).unwrap();
        let output = place.output(["run", "--workspace", shown.to_str().unwrap(), "--", "true"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(125));
        assert!(said.contains("a command would reach"), "{said}");
        let output = place.output(["run", "--mount", shown.to_str().unwrap(), "--", "true"]);
        assert_eq!(output.status.code(), Some(125));
    }
}

/// R63
#[test]
fn the_workers_variables() {
    let place = Place::new();
    let output =
        place.agentctl(["run", "--json", "--", "true"]).env("ENABLE_DOCKER", "false").output().unwrap();
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["executor"], "local");
    let (_, said) = run_shell(&place, &[("DOCKER_TIMEOUT", "200")], &[], "sleep 60");
    assert!(said.contains("wall time of 200ms"), "{said}");
    let (_, said) = run_shell(
        &place,
        &[("DOCKER_TIMEOUT", "200"), ("ENABLE_DOCKER", "false")],
        &["--timeout", "9s"],
        "true",
    );
    insta::assert_snapshot!(said, @"agentctl: WARN DOCKER_TIMEOUT does not count: --timeout says otherwise");
}

/// R61: unknown variables are reported; invalid values stop everything.
#[test]
fn variables_of_ours() {
    let place = Place::new();
    let (_, said) = run_shell(&place, &[("AGENTCTL_MEMROY", "1g")], &[], "true");
    insta::assert_snapshot!(said, @"agentctl: WARN the variable AGENTCTL_MEMROY means nothing to agentctl; did you mean AGENTCTL_MEMORY?");
    let (out, said) = run_shell(&place, &[("AGENTCTL_MEMORY", "512x")], &[], "echo ran");
    assert_eq!(out, "");
    insta::assert_snapshot!(said, @r"
    agentctl: AGENTCTL_MEMORY: `512x` is not a size: the unit is b, k, m, g or t; write a number and a unit, like `512m` or `2g`
      try: correct the variable, or unset it
    ");
}

/// R66: invalid settings of an unused sandbox are ignored; those of the used one are an error that names it.
#[test]
fn a_mistake_for_one_sandbox_does_not_affect_another() {
    let place = Place::new();
    place.file("own.toml", "[executor.docker]\nenv = ['NO_SUCH_VARIABLE']\n");
    let run = |sandbox: &str| {
        place.agentctl(["run", "--config", "own.toml", "--sandbox", sandbox, "--", "true"]).output().unwrap()
    };
    let local = run("local");
    assert!(local.status.success(), "{local:?}");
    let docker = run("docker");
    let said = String::from_utf8_lossy(&docker.stderr);
    assert_eq!(docker.status.code(), Some(125), "{said}");
    assert!(
        said.contains("the settings for docker can't be used: you have no variable `NO_SUCH_VARIABLE`"),
        "{said}"
    );
}
