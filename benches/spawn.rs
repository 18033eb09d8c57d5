//! A command in a cell that stands ready, beside a bare spawn.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

use std::process::Stdio;

use criterion::{Criterion, criterion_group, criterion_main};
use exec_benches::Rig;
use exec_core::SessionName;
use tokio::process::Command;

fn spawn(c: &mut Criterion) {
    let rig = Rig::new(2);
    let mut group = c.benchmark_group("spawn");
    group.bench_function("tokio", |b| {
        b.iter(|| {
            rig.runtime.block_on(async {
                let output = Command::new("true").stdin(Stdio::null()).output().await.expect("a run");
                assert!(output.status.success());
            });
        });
    });
    group.bench_function("warm-local", |b| {
        b.iter_custom(|count| rig.runtime.block_on(rig.time_warm(count)));
    });
    let session = rig.opts.clone().in_session(SessionName::new("bench"));
    group.bench_function("session-local", |b| b.iter(|| rig.runtime.block_on(rig.run_true(&session))));
    group.finish();
}

criterion_group!(benches, spawn);
criterion_main!(benches);
