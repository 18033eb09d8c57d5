//! A gibibyte of output through a cell, compared with a plain pipe.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

use std::process::Stdio;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use exec_benches::Rig;
use exec_core::{Cmd, Event, Executor};
use tokio::io::AsyncReadExt;
use tokio::process::Command;

const GIBIBYTE: u64 = 1 << 30;
const ARGS: [&str; 3] = ["-c", "1G", "/dev/zero"];

/// The piece size with which tokio itself copies output, and the kernel's default for a pipe.
const PIECE: usize = 64 * 1024;

fn stream(c: &mut Criterion) {
    let rig = Rig::new(0);
    let mut group = c.benchmark_group("stream-1gib");
    group.sample_size(10).throughput(Throughput::Bytes(GIBIBYTE));
    group.bench_function("tokio-pipe", |b| b.iter(|| assert_eq!(rig.runtime.block_on(bare()), GIBIBYTE)));
    group.bench_function("local", |b| b.iter(|| assert_eq!(rig.runtime.block_on(sandboxed(&rig)), GIBIBYTE)));
    group.finish();
}

async fn bare() -> u64 {
    let mut child = Command::new("head").args(ARGS).stdout(Stdio::piped()).spawn().expect("a run");
    let mut out = child.stdout.take().expect("a pipe");
    let (mut buffer, mut total) = (vec![0; PIECE], 0);
    loop {
        match out.read(&mut buffer).await.expect("output") {
            0 => break,
            len => total += len as u64,
        }
    }
    child.wait().await.expect("a status");
    total
}

async fn sandboxed(rig: &Rig) -> u64 {
    let execution = rig.local.start(&Cmd::new("head").args(ARGS), &rig.opts).await.expect("a run");
    let mut total = 0;
    while let Some(event) = execution.next_event().await {
        if let Event::Output { bytes, .. } = event {
            total += bytes.len() as u64;
        }
    }
    execution.wait().await.expect("an outcome");
    total
}

criterion_group!(benches, stream);
criterion_main!(benches);
