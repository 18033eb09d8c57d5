//! The time to find a sandbox, without and with a cached answer.
#![expect(clippy::expect_used, reason = "a bench that fails must stop")]

use agent_exec::{Executor, Finder, builder};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::runtime::Runtime;

fn choose(c: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let mut group = c.benchmark_group("choose");
    let finder = Finder::new(builder());
    let known = runtime.block_on(finder.find()).expect("a sandbox");
    group.bench_function("known", |b| {
        b.iter(|| runtime.block_on(finder.find()).expect("a sandbox"));
    });
    let name = format!("unknown-{}", known.name());
    group.bench_function(name, |b| b.iter(|| runtime.block_on(builder().build()).expect("a sandbox")));
    group.finish();
}

criterion_group!(benches, choose);
criterion_main!(benches);
