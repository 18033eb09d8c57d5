//! No engine answers.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use exec_core::ErrorKind;

use crate::support::{refusal, said};

/// The address for the part of a test that runs as another user.
const ADDRESS: &str = "EXEC_DOCKER_FORBIDDEN";

/// An unprivileged user.
const OTHER_USER: u32 = 65534;

/// F5
#[tokio::test]
async fn no_socket() {
    let text = said(&refusal("unix:///no/such/engine.sock").await, None);
    insta::assert_snapshot!(text, @r"
    Unavailable: docker: the socket of the Docker engine does not exist (at: unix:///no/such/engine.sock, from: the configuration)
    -> start the engine that should be there, or correct the configured address
    ");
}

/// F5: left over from a killed engine.
#[tokio::test]
async fn a_socket_without_a_listener() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("engine.sock");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let text = said(&refusal(&format!("unix://{}", path.display())).await, None);
    insta::assert_snapshot!(text.replace(dir.path().to_str().unwrap(), "[dir]"), @r"
    Unavailable: docker: nothing listens where the Docker engine should be (at: unix://[dir]/engine.sock, from: the configuration)
    -> start the engine that should be there, or correct the configured address
    ");
}

/// F5
#[tokio::test]
async fn a_file_instead_of_a_socket() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = refusal(&format!("unix://{}", file.path().display())).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.remedy().is_some());
}

/// F5: a socket of another user. Root may use any socket, so root's test asks as an unprivileged user.
#[test]
fn a_socket_without_permission() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let path = dir.path().join("engine.sock");
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
    // The test program may be in a directory that only root can enter.
    let program = dir.path().join("asks");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut asks = Command::new(&program);
    asks.args(["--exact", "absent::asks_where_it_may_not", "--ignored", "--nocapture"])
        .env(ADDRESS, format!("unix://{}", path.display()))
        .current_dir("/");
    if rustix::process::geteuid().is_root() {
        asks.uid(OTHER_USER).gid(OTHER_USER);
    }
    let output = asks.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("said: ")).collect();
    // The rest of the remedy depends on the groups of this machine.
    let text = lines.join("\n").replace(dir.path().to_str().unwrap(), "[dir]");
    let (message, remedy) = text.split_once("\n-> ").unwrap();
    insta::assert_snapshot!(message, @"Unavailable: docker: this user may not use the Docker engine (at: unix://[dir]/engine.sock, from: the configuration)");
    assert!(!remedy.is_empty());
}

#[tokio::test]
#[ignore = "the part of `a_socket_without_permission` that runs as another user"]
async fn asks_where_it_may_not() {
    let Ok(address) = std::env::var(ADDRESS) else { return };
    for line in said(&refusal(&address).await, None).lines() {
        println!("said: {line}");
    }
}
