//! The system call filter of Podman's containers, without the parts that no command in our cells can use.
//!
//! Podman's filter covers every architecture that the processor can run: three on x86-64, and the runtime
//! compiles it for each before it starts a container. Our PID 1 refuses all but native calls anyway. So we pass this
//! machine's own filter, whatever its source, without the other architectures: the rest is as strict as before, and
//! both the filter and PID 1 refuse what was left out.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::HostEnvironment;

/// Podman's filter is the first of these that exists. If none does, its built-in filter stays.
const PLACES: [&str; 2] = ["/etc/containers/seccomp.json", "/usr/share/containers/seccomp.json"];

/// Directories of the system's settings, which may name another filter.
const SETTINGS: [&str; 2] = ["/usr/share/containers", "/etc/containers"];

/// Variables that name other settings.
const ELSEWHERE: [&str; 2] = ["CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE"];

/// The filter to request; `None` to leave the choice to Podman.
pub(crate) fn narrowed(around: &dyn HostEnvironment) -> Option<String> {
    if is_set(around) {
        return None;
    }
    let place = PLACES.iter().map(Path::new).find(|place| around.exists(place))?;
    native_only(&around.read(place).ok()?)
}

/// Whether the user may have chosen a filter: then that one stays unchanged.
fn is_set(around: &dyn HostEnvironment) -> bool {
    let of_user = around.user_dirs().config_home;
    let directories = SETTINGS.iter().map(PathBuf::from).chain(of_user.map(|path| path.join("containers")));
    ELSEWHERE.iter().any(|name| around.variable(name).is_some())
        || directories
            .flat_map(|directory| settings(around, &directory))
            .any(|path| names_a_filter(around, &path))
}

/// The settings files in a directory.
fn settings(around: &dyn HostEnvironment, directory: &Path) -> Vec<PathBuf> {
    let mut files = around.list(&directory.join("containers.conf.d")).unwrap_or_default();
    files.push(directory.join("containers.conf"));
    files
}

fn names_a_filter(around: &dyn HostEnvironment, file: &Path) -> bool {
    let text = around.read(file).unwrap_or_default();
    text.lines().any(|line| line.trim_start().starts_with("seccomp_profile"))
}

/// The filter without the other architectures; `None` if it has none, or has another format.
fn native_only(filter: &str) -> Option<String> {
    let mut filter: Value = serde_json::from_str(filter).ok()?;
    let mut narrower = false;
    for architecture in filter.get_mut("archMap")?.as_array_mut()? {
        let others = architecture.get_mut("subArchitectures").and_then(Value::as_array_mut);
        narrower |= others.map(std::mem::take).is_some_and(|others| !others.is_empty());
    }
    narrower.then(|| filter.to_string())
}

#[cfg(test)]
mod tests {
    use exec_container::surroundings::sample::Sample;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    const FILTER: &str = r#"{"defaultAction":"SCMP_ACT_ERRNO","archMap":[
        {"architecture":"SCMP_ARCH_X86_64","subArchitectures":["SCMP_ARCH_X86","SCMP_ARCH_X32"]},
        {"architecture":"SCMP_ARCH_PPC64LE"}],
        "syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW"}]}"#;

    fn host() -> Sample {
        Sample::default()
            .file(PLACES[1], FILTER)
            .file("/usr/share/containers/containers.conf", "#seccomp_profile=\n")
    }

    /// R50: only the architectures change.
    #[test]
    fn the_filter_is_the_machines_own_without_other_architectures() {
        let mut expected: Value = serde_json::from_str(FILTER).unwrap();
        expected["archMap"][0]["subArchitectures"] = json!([]);
        let narrowed = narrowed(&host()).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&narrowed).unwrap(), expected);
    }

    #[test]
    fn the_administrators_comes_first() {
        let host = host().file(PLACES[0], &FILTER.replace("read", "write"));
        assert!(narrowed(&host).unwrap().contains("write"));
    }

    /// R50: a filter chosen by the user stays.
    #[rstest]
    #[case("/etc/containers/containers.conf")]
    #[case("/etc/containers/containers.conf.d/ours.conf")]
    #[case("/home/me/.config/containers/containers.conf")]
    fn a_choice_is_left_alone(#[case] settings: &str) {
        let chosen = "[containers]\n seccomp_profile = \"/srv/filter.json\"\n";
        let host = host().with("HOME", "/home/me");
        assert_eq!(narrowed(&host.clone().file(settings, chosen)), None);
        assert!(narrowed(&host.file(settings, "[containers]\n")).is_some());
    }

    #[rstest]
    #[case::not_json("none")]
    #[case::no_map(r#"{"architectures":["SCMP_ARCH_X86_64"]}"#)]
    #[case::nothing_to_leave_out(r#"{"archMap":[{"architecture":"SCMP_ARCH_X86_64"}]}"#)]
    fn what_is_not_understood_is_left_alone(#[case] filter: &str) {
        assert_eq!(narrowed(&Sample::default().file(PLACES[0], filter)), None);
    }
}
