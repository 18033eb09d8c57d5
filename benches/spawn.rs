//! A command in a warm cell, compared with a bare spawn.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

use std::process::Stdio;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use exec_benches::{Rig, one_at_a_time};
use exec_core::SessionName;
use tokio::process::Command;

fn spawn(c: &mut Criterion) {
    let rig = Rig::new(2);
    let mut group = c.benchmark_group("spawn");
    group.bench_function("tokio", |b| {
        b.iter_custom(|count| rig.runtime.block_on(time_each(count, bare_true)));
    });
    group.bench_function("warm-local", |b| {
        b.iter_custom(|count| rig.runtime.block_on(rig.time_warm(count)));
    });
    let session = rig.opts.clone().in_session(SessionName::new("bench"));
    group.bench_function("session-local", |b| {
        b.iter_custom(|count| rig.runtime.block_on(time_each(count, || rig.run_true(&session))));
    });
    group.finish();
}

async fn bare_true() {
    let output = Command::new("true").stdin(Stdio::null()).output().await.expect("a run");
    assert!(output.status.success());
}

async fn time_each<F: Future<Output = ()>>(count: u64, command: impl Fn() -> F) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..count {
        total += one_at_a_time(command()).await;
    }
    total
}

criterion_group!(benches, spawn);
criterion_main!(benches);
