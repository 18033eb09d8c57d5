//! A command in a cell created for it, compared with bubblewrap and with the whole program.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

use std::path::PathBuf;
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use exec_benches::Rig;

fn cold(c: &mut Criterion) {
    let rig = Rig::new(0);
    let mut group = c.benchmark_group("cold");
    let bwrap = [
        "--unshare-all",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
        "true",
    ];
    group.bench_function("bwrap", |b| b.iter(|| succeeds(Command::new("bwrap").args(bwrap))));
    group.bench_function("local", |b| b.iter(|| rig.runtime.block_on(rig.run_true(&rig.opts))));
    match std::env::var_os("AGENTCTL_BIN").map(PathBuf::from) {
        Some(agentctl) => {
            let args = ["run", "--sandbox", "local", "--", "true"];
            group.bench_function("agentctl-run", |b| b.iter(|| succeeds(Command::new(&agentctl).args(args))));
        }
        None => {
            assert!(std::env::args().any(|arg| arg == "--test"), "AGENTCTL_BIN names the program to measure");
        }
    }
    group.finish();
}

fn succeeds(command: &mut Command) {
    let status = command.stdin(Stdio::null()).status().expect("a run");
    assert!(status.success(), "{command:?}: {status}");
}

criterion_group!(benches, cold);
criterion_main!(benches);
