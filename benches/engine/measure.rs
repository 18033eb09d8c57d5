//! A command in a warm container, in a session and in a new container, and builds inside and outside, compared with
//! the usual alternatives: a bare spawn, and the engine's own `exec` and `run`.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput};
use exec_core::{ExecOpts, SessionName};

use crate::rig::{self, Container, EngineRig, bare_true, engine_run, one_at_a_time, succeeds};
use crate::turns::{Turns, time};
use crate::{ENGINE, build};

/// Concurrent callers of one session.
const CALLERS: u64 = 8;

/// Limits the planned iterations: criterion sees the short measured time, but not the long waits in between.
pub(crate) fn sparse(group: &mut BenchmarkGroup<'_, WallTime>) {
    group.sampling_mode(SamplingMode::Flat).sample_size(20);
    group.warm_up_time(Duration::from_millis(10)).measurement_time(Duration::from_millis(50));
}

/// A command in every way to run it.
pub(crate) fn commands(c: &mut Criterion) {
    let (warm, cold, container) = (EngineRig::new(2), EngineRig::new(0), Container::start());
    let agentctl = std::env::var_os("AGENTCTL_BIN").map(PathBuf::from);
    let alone = |command: &dyn Fn()| {
        std::thread::sleep(rig::PAUSE);
        time(command)
    };
    let mut turns = Turns::default()
        .with("bare-spawn", || warm.runtime.block_on(one_at_a_time(bare_true())))
        .with("warm", || {
            warm.runtime.block_on(async {
                warm.warm().await;
                let taken = one_at_a_time(warm.run_true(&warm.opts)).await;
                // The next cell is ready before the next contestant is measured.
                warm.warm().await;
                taken
            })
        })
        .with("exec", || alone(&|| succeeds(crate::client().args(["exec", container.name(), "true"]))))
        .with("run", || alone(&|| succeeds(&mut engine_run(&["true"]))))
        .with("cold", || cold.runtime.block_on(one_at_a_time(cold.run_true(&cold.opts))));
    if let Some(agentctl) = &agentctl {
        let args = ["run", "--sandbox", ENGINE, "--", "true"];
        turns = turns.with("agentctl-run", move || alone(&|| succeeds(Command::new(agentctl).args(args))));
    }
    let mut group = c.benchmark_group(ENGINE);
    turns.bench(&mut group);
    group.finish();
}

/// A command in a session, with one caller and with many.
pub(crate) fn sessions(c: &mut Criterion) {
    let rig = EngineRig::new(0);
    let session = rig.opts.clone().in_session(SessionName::new("bench"));
    let mut group = c.benchmark_group(ENGINE);
    sparse(&mut group);
    group.bench_function("session", |b| {
        b.iter_custom(|count| rig.runtime.block_on(time_each(count, || rig.run_true(&session))));
    });
    group.finish();
    many_callers(c, &Arc::new(rig), &session);
}

/// The time of one command while eight callers each run commands in sequence.
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

pub(crate) fn builds(c: &mut Criterion) {
    let rig = EngineRig::new(0);
    for build in build::ALL {
        let mut group = c.benchmark_group(format!("{ENGINE}-{}", build.name));
        let session = rig.build_session();
        let turns = Turns::default()
            .with("outside", || time(|| build.outside(&rig)))
            .with("inside", || time(|| build.inside(&rig, &session)));
        turns.bench(&mut group);
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

/// The time of `count` commands, one at a time.
pub(crate) async fn time_each<F: Future<Output = ()>>(count: u64, command: impl Fn() -> F) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..count {
        total += one_at_a_time(command()).await;
    }
    total
}
