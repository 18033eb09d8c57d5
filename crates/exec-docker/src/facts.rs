//! The facts about this host that explain why no engine was found.

use std::path::{Path, PathBuf};

use crate::{HostEnvironment, System};

/// The facts that the remedy depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The operating system.
    pub system: System,
    /// The path of `docker` or `dockerd`, if one is on the search path.
    pub program: Option<PathBuf>,
    /// This process's membership in the group that may use the socket.
    pub group: DockerGroup,
}

/// This process's membership in the group `docker`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DockerGroup {
    /// The group does not exist.
    Absent,
    /// The user is not a member.
    Stranger,
    /// The user is a member now, but was not when this session began.
    NextSession,
    /// The process is a member.
    Member,
}

impl Facts {
    /// Inspects the host.
    pub fn look(around: &dyn HostEnvironment) -> Self {
        Self { system: around.system(), program: program(around), group: group(around) }
    }
}

/// `dockerd` counts too: the engine works without the CLI.
fn program(around: &dyn HostEnvironment) -> Option<PathBuf> {
    ["docker", "dockerd"].into_iter().find_map(|name| around.program(name))
}

fn group(around: &dyn HostEnvironment) -> DockerGroup {
    let groups = around.read(Path::new("/etc/group")).unwrap_or_default();
    let Some((id, members)) = groups.lines().find_map(docker_group) else { return DockerGroup::Absent };
    let user = around.variable("USER").unwrap_or_default();
    if around.group_ids().contains(&id) {
        DockerGroup::Member
    } else if members.split(',').any(|member| !member.is_empty() && user == *member) {
        DockerGroup::NextSession
    } else {
        DockerGroup::Stranger
    }
}

/// Id and members, if the line is about that group: `docker:x:999:ada,bob`.
fn docker_group(line: &str) -> Option<(u32, &str)> {
    let mut fields = line.split(':');
    let is_docker = fields.next() == Some("docker");
    let id = fields.nth(1)?.parse().ok()?;
    is_docker.then_some((id, fields.next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use exec_container::surroundings::sample::Sample;

    #[rstest]
    #[case::no_group("root:x:0:\n", &[1000], DockerGroup::Absent)]
    #[case::nobody("docker:x:999:\n", &[1000], DockerGroup::Stranger)]
    #[case::others("docker:x:999:ada,users\n", &[1000], DockerGroup::Stranger)]
    #[case::just_joined("root:x:0:\ndocker:x:999:ada,user\n", &[1000], DockerGroup::NextSession)]
    #[case::member("docker:x:999:\n", &[1000, 999], DockerGroup::Member)]
    #[case::nonsense("docker\ndocker:x:many:user\n:::\n", &[1000], DockerGroup::Absent)]
    fn the_group_is_found(#[case] groups: &str, #[case] ids: &[u32], #[case] expected: DockerGroup) {
        let mut host = Sample::default().file("/etc/group", groups);
        host.group_ids = ids.to_vec();
        assert_eq!(Facts::look(&host).group, expected);
    }

    #[test]
    fn either_program_shows_that_docker_is_installed() {
        let program = |host: Sample| Facts::look(&host).program;
        assert_eq!(program(Sample::default()), None);
        let host = Sample::default().file("/usr/bin/dockerd", "");
        assert_eq!(program(host.clone()), Some("/usr/bin/dockerd".into()));
        assert_eq!(program(host.file("/usr/bin/docker", "")), Some("/usr/bin/docker".into()));
    }
}
