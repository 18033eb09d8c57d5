//! Docker: a command in a warm container, in a session, in a new one, and builds inside and outside, beside what people
//! use instead: a bare spawn, `docker exec`, `docker run`.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

mod build;
mod rig;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use exec_core::{ExecOpts, SessionName};

use rig::{Container, DockerRig, bare_true, docker_run, one_at_a_time, succeeds};

/// Callers of one session at a time.
const CALLERS: u64 = 8;

/// What is timed is short, what is waited for in between is not: few iterations are planned by the former.
fn sparse(group: &mut BenchmarkGroup<'_, WallTime>) {
    group.sampling_mode(SamplingMode::Flat).sample_size(20);
    group.warm_up_time(Duration::from_millis(10)).measurement_time(Duration::from_millis(50));
}

fn commands(c: &mut Criterion) {
    let rig = DockerRig::new(2);
    let mut group = c.benchmark_group("docker");
    sparse(&mut group);
    group.bench_function("bare-spawn", |b| {
        b.iter_custom(|count| rig.runtime.block_on(time_each(count, bare_true)));
    });
    group.bench_function("warm", |b| {
        b.iter_custom(|count| {
            rig.runtime.block_on(async {
                let mut total = Duration::ZERO;
                for _ in 0..count {
                    rig.warm().await;
                    total += one_at_a_time(rig.run_true(&rig.opts)).await;
                }
                total
            })
        });
    });
    let session = rig.opts.clone().in_session(SessionName::new("bench"));
    group.bench_function("session", |b| {
        b.iter_custom(|count| rig.runtime.block_on(time_each(count, || rig.run_true(&session))));
    });
    group.finish();
    many_callers(c, &Arc::new(rig), &session);
}

/// Time of one command of many that eight callers run one after another each.
fn many_callers(c: &mut Criterion, rig: &Arc<DockerRig>, session: &ExecOpts) {
    let mut group = c.benchmark_group("docker-callers");
    group.sample_size(20).throughput(Throughput::Elements(1));
    group.bench_function("session-of-8", |b| {
        b.iter_custom(|count| {
            let share = count.div_ceil(CALLERS);
            let begun = Instant::now();
            rig.runtime.block_on(async {
                let callers: Vec<_> = (0..CALLERS)
                    .map(|_| {
                        let (rig, session) = (Arc::clone(rig), session.clone());
                        tokio::spawn(async move {
                            for _ in 0..share {
                                rig.run_true(&session).await;
                            }
                        })
                    })
                    .collect();
                for caller in callers {
                    caller.await.expect("a caller");
                }
            });
            begun.elapsed().mul_f64(count as f64 / (share * CALLERS) as f64)
        });
    });
    group.finish();
}

fn clients(c: &mut Criterion) {
    let mut group = c.benchmark_group("docker-client");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(3));
    group.bench_function("run", |b| b.iter(|| succeeds(&mut docker_run(&["true"]))));
    let container = Container::start();
    group.bench_function("exec", |b| {
        b.iter(|| succeeds(Command::new("docker").args(["exec", container.name(), "true"])));
    });
    if let Some(agentctl) = std::env::var_os("AGENTCTL_BIN").map(PathBuf::from) {
        let args = ["run", "--sandbox", "docker", "--", "true"];
        group.bench_function("agentctl-run", |b| b.iter(|| succeeds(Command::new(&agentctl).args(args))));
    }
    group.finish();
}

fn builds(c: &mut Criterion) {
    let rig = DockerRig::new(0);
    for build in build::ALL {
        let mut group = c.benchmark_group(build.name);
        group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(8));
        group.bench_function("outside", |b| b.iter(|| build.outside(&rig)));
        let session = rig.build_session();
        group.bench_function("inside", |b| b.iter(|| build.inside(&rig, &session)));
        group.finish();
    }
}

fn streams(c: &mut Criterion) {
    let rig = DockerRig::new(0);
    let mut group = c.benchmark_group("docker-stream-256mib");
    group.sampling_mode(SamplingMode::Flat).sample_size(10).throughput(Throughput::Bytes(rig::STREAM));
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_secs(10));
    group.bench_function("cell", |b| b.iter(|| assert_eq!(rig.runtime.block_on(rig.stream()), rig::STREAM)));
    let bytes = rig::STREAM.to_string();
    group.bench_function("docker-run", |b| {
        b.iter(|| succeeds(&mut docker_run(&["head", "-c", &bytes, "/dev/zero"])));
    });
    group.finish();
}

async fn time_each<F: Future<Output = ()>>(count: u64, command: impl Fn() -> F) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..count {
        total += one_at_a_time(command()).await;
    }
    total
}

criterion_group!(benches, commands, clients, builds, streams);
criterion_main!(benches);
