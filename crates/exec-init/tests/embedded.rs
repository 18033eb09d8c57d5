//! The program as hosts get it: from the library, written to a file.
#![cfg(all(target_os = "linux", feature = "embed"))]

mod client;

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use client::{Cell, shell};

#[test]
fn the_embedded_program_serves() {
    let program = exec_init::native().expect("a program for this architecture");
    let directory = tempfile::tempdir().expect("directory");
    let path = directory.path().join("exec-init");
    std::fs::write(&path, program.bytes).expect("write");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("chmod");

    let version = Command::new(&path).arg("--version").output().expect("run");
    let version = String::from_utf8(version.stdout).expect("text");
    assert_eq!(
        version,
        format!("exec-init {} (protocol {})\n", exec_init::VERSION, exec_wire::PROTOCOL_VERSION)
    );

    // It needs nothing from the host, not even an environment.
    let mut command = Command::new(&path);
    command.env_clear();
    let mut cell = Cell::of(command);
    cell.greet();
    assert_eq!(cell.run(1, shell("seq 1 3")).text(), "1\n2\n3\n");
}
