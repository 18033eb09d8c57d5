//! A command in a warm container, in a session, in a new one, and builds inside and outside, beside what people use
//! instead: a bare spawn, and the engine's own `exec` and `run`.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput};
use exec_core::{ExecOpts, SessionName};

use crate::rig::{self, Container, EngineRig, bare_true, engine_run, one_at_a_time, succeeds};
use crate::turns::Turns;
use crate::{ENGINE, build};

/// Callers of one session at a time.
const CALLERS: u64 = 8;

/// What is timed is short, what is waited for in between is not: few iterations are planned by the former.
pub(crate) fn sparse(group: &mut BenchmarkGroup<'_, WallTime>) {
    group.sampling_mode(SamplingMode::Flat).sample_size(20);
    group.warm_up_time(Duration::from_millis(10)).measurement_time(Duration::from_millis(50));
}

pub(crate) fn commands(c: &mut Criterion) {
    let rig = EngineRig::new(2);
    let mut group = c.benchmark_group(ENGINE);
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
fn many_callers(c: &mut Criterion, rig: &Arc<EngineRig>, session: &ExecOpts) {
    let mut group = c.benchmark_group(format!("{ENGINE}-callers"));
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

pub(crate) fn clients(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("{ENGINE}-client"));
    group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(3));
    let rig = EngineRig::new(0);
    let mut bench = |name: &str, command: &dyn Fn()| {
        let timed = |count| rig.runtime.block_on(time_each(count, || async { command() }));
        group.bench_function(name, |b| b.iter_custom(timed));
    };
    bench("run", &|| succeeds(&mut engine_run(&["true"])));
    let container = Container::start();
    bench("exec", &|| succeeds(crate::client().args(["exec", container.name(), "true"])));
    if let Some(agentctl) = std::env::var_os("AGENTCTL_BIN").map(PathBuf::from) {
        let args = ["run", "--sandbox", ENGINE, "--", "true"];
        bench("agentctl-run", &|| succeeds(Command::new(&agentctl).args(args)));
    }
    let cold = |count| rig.runtime.block_on(time_each(count, || rig.run_true(&rig.opts)));
    group.bench_function("cold", |b| b.iter_custom(cold));
    group.finish();
}

pub(crate) fn builds(c: &mut Criterion) {
    let rig = EngineRig::new(0);
    for build in build::ALL {
        let mut group = c.benchmark_group(format!("{ENGINE}-{}", build.name));
        group.sampling_mode(SamplingMode::Flat).sample_size(20);
        // Both sides are measured in one go, so that nothing is left to warm up and little to plan.
        group.warm_up_time(Duration::from_nanos(1)).measurement_time(Duration::from_millis(1));
        let session = rig.build_session();
        let turns = Turns::new(|| build.outside(&rig), || build.inside(&rig, &session));
        group.bench_function("outside", |b| b.iter_custom(|count| turns.first(count)));
        group.bench_function("inside", |b| b.iter_custom(|count| turns.second(count as u32)));
        group.finish();
    }
}

pub(crate) fn streams(c: &mut Criterion) {
    let rig = EngineRig::new(0);
    let mut group = c.benchmark_group(format!("{ENGINE}-stream-256mib"));
    group.sampling_mode(SamplingMode::Flat).sample_size(10).throughput(Throughput::Bytes(rig::STREAM));
    group.warm_up_time(Duration::from_millis(100)).measurement_time(Duration::from_secs(10));
    group.bench_function("cell", |b| b.iter(|| assert_eq!(rig.runtime.block_on(rig.stream()), rig::STREAM)));
    let bytes = rig::STREAM.to_string();
    group.bench_function("client-run", |b| {
        b.iter(|| succeeds(&mut engine_run(&["head", "-c", &bytes, "/dev/zero"])));
    });
    group.finish();
}

/// Time of so many commands, one at a time.
pub(crate) async fn time_each<F: Future<Output = ()>>(count: u64, command: impl Fn() -> F) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..count {
        total += one_at_a_time(command()).await;
    }
    total
}
