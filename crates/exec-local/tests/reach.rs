//! An executor's own files are out of reach of its commands.

#![cfg(target_os = "linux")]

use exec_control::{Audit, AuditFile, StateDir, Watch};
use exec_core::{Cmd, ErrorKind, ExecOpts, Executor, MountSpec};
use exec_local::{LocalConfig, LocalExec};

/// A40: in the library as well as in the program.
#[tokio::test]
async fn an_executors_own_places_are_refused() {
    let (workspace, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let watches = [
        Watch::new(StateDir::at(workspace.path().join("state")), Audit::Off),
        Watch::new(
            StateDir::at(elsewhere.path().join("state")),
            Audit::On(AuditFile::at(workspace.path().join("log"))),
        ),
    ];
    for watch in watches {
        let executor = LocalExec::new(LocalConfig { watch, ..LocalConfig::default() }).await.unwrap();
        let shown = ExecOpts::in_workspace(workspace.path());
        let mount = MountSpec::read_only(workspace.path()).at("/data");
        let below = elsewhere.path().join("project");
        std::fs::create_dir_all(&below).unwrap();
        for opts in [shown, ExecOpts::in_workspace(&below).with_mount(mount)] {
            let error = executor.run(&Cmd::new("true"), &opts).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().contains("a command would reach"), "{error}");
        }
        let control = executor.run(&Cmd::new("true"), &ExecOpts::in_workspace(&below)).await.unwrap();
        assert!(control.success());
    }
}
