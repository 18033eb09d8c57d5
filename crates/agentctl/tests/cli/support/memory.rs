//! The memory that `agentctl` needs to pass output on.

use std::io::Read;
use std::process::Stdio;

use super::{Place, Run};

const MIB: u64 = 1 << 20;

/// A31: a gibibyte passes through without being stored.
pub(crate) fn assert_a_gibibyte_passes_in_bounded_memory(options: &[&str]) {
    let (little, _) = peak_memory(options, "head -c 1 /dev/zero");
    let (much, bytes) = peak_memory(options, "head -c 1G /dev/zero");
    assert_eq!(bytes, 1 << 30);
    assert!(much < little + 8 * MIB, "{} KiB instead of {} KiB", much >> 10, little >> 10);
}

/// The peak memory of `agentctl` while this was written, and the number of bytes.
fn peak_memory(options: &[&str], writer: &str) -> (u64, u64) {
    let place = Place::new();
    let script = format!("{writer}; echo >&2; read line");
    let shell = ["--", "sh", "-c", &script];
    let mut command = place.agentctl(["run", "--quiet"].iter().chain(options).chain(&shell));
    let mut run = Run::spawn(command.stdin(Stdio::piped()).stderr(Stdio::piped()));
    let mut stderr = run.child().stderr.take().unwrap();
    let reader = std::thread::scope(|scope| {
        let pid = run.pid();
        let stdin = run.child().stdin.take();
        let measured = scope.spawn(move || {
            // The newline marks the end of the output; the command then waits for us.
            stderr.read_exact(&mut [0]).unwrap();
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            drop(stdin);
            status
        });
        let bytes = std::io::copy(run.stdout(), &mut std::io::sink()).unwrap();
        (measured.join().unwrap(), bytes)
    });
    run.wait();
    let (status, bytes) = reader;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    (kib << 10, bytes)
}
