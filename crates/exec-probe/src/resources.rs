//! Commands that use up resources.

use std::ffi::c_int;
use std::fs::File;
use std::hint::black_box;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::command::Args;
use crate::errno::Errno;
use crate::sys::{self, Fork, Result};

const PAGE: usize = 4096;
const STEP: usize = 1 << 20;

/// `eat-memory BYTES`: allocates and touches this many bytes.
pub(crate) fn eat_memory(args: &Args<'_>) -> Result<()> {
    match eat(args.number(0)) {
        Ok(held) => sys::say(&format!("ate {}", held.len() * STEP)),
        Err(so_far) => sys::say(&format!("errno ENOMEM after {so_far}")),
    }
}

/// `hoard N BYTES`: N children allocate this many bytes each and keep them until all have them, or one is
/// dead.
pub(crate) fn hoard(args: &Args<'_>) -> Result<()> {
    let (count, each): (c_int, usize) = (args.number(0), args.number(1));
    let (ready, tell) = sys::pipe()?;
    let mut children = Vec::new();
    for _ in 0..count {
        match sys::fork()? {
            Fork::Parent { child } => children.push(child),
            Fork::Child => {
                let held = eat(each);
                let reported = sys::write_all(tell, b"x");
                if held.is_err() || reported.is_err() {
                    sys::exit(1);
                }
                sys::pause_for_ever();
            }
        }
    }
    let mut dead = false;
    while !dead && sys::unread(ready)? < count {
        dead = sys::has_dead_child()?;
        thread::yield_now();
    }
    for child in children {
        // Killing a dead child fails, which is fine.
        let _ = sys::kill(child, libc::SIGKILL);
    }
    sys::say(if dead { "one is dead" } else { "all have it" })
}

/// Allocates this many bytes and touches every page; on failure returns how many there were.
fn eat(bytes: usize) -> std::result::Result<Vec<Vec<u8>>, usize> {
    let mut held = Vec::new();
    for _ in 0..bytes.div_ceil(STEP) {
        let mut piece: Vec<u8> = Vec::new();
        if piece.try_reserve_exact(STEP).is_err() {
            return Err(held.len() * STEP);
        }
        piece.resize(STEP, 0);
        for byte in piece.iter_mut().step_by(PAGE) {
            *byte = 1;
        }
        held.push(black_box(piece));
    }
    Ok(held)
}

/// `open-files N`: opens this many files at once.
pub(crate) fn open_files(args: &Args<'_>) -> Result<()> {
    let mut held = Vec::new();
    for _ in 0..args.number::<u32>(0) {
        match File::open("/dev/null") {
            Ok(file) => held.push(file),
            Err(error) => return sys::say(&format!("errno {}", Errno::of(&error).name())),
        }
    }
    sys::say(&format!("opened {}", held.len()))
}

/// `inotify N`: opens this many instances at once and keeps them until standard input ends.
pub(crate) fn inotify(args: &Args<'_>) -> Result<()> {
    let wanted: u32 = args.number(0);
    let refused = (0..wanted).find_map(|made| {
        // SAFETY: the call takes nothing but flags.
        sys::check(unsafe { libc::inotify_init1(libc::IN_CLOEXEC) }).err().map(|errno| (made, errno))
    });
    sys::say(&match refused {
        Some((made, errno)) => format!("errno {} after {made}", errno.name()),
        None => format!("made {wanted}"),
    })?;
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).map(drop).map_err(|error| Errno::of(&error))
}

/// `spawn-threads N`: starts this many threads at once.
pub(crate) fn spawn_threads(args: &Args<'_>) -> Result<()> {
    let mut stay = Vec::new();
    let wanted: u32 = args.number(0);
    for made in 0..wanted {
        let (leave, leaving) = mpsc::channel::<()>();
        let spawned = thread::Builder::new().stack_size(1 << 16).spawn(move || leaving.recv());
        match spawned {
            Ok(_) => stay.push(leave),
            Err(error) => return sys::say(&format!("errno {} after {made}", Errno::of(&error).name())),
        }
    }
    sys::say(&format!("made {wanted}"))
}

/// `burn-cpu THREADS MS`: spins for this long, and prints the milliseconds of CPU time used.
pub(crate) fn burn_cpu(args: &Args<'_>) -> Result<()> {
    let time = Duration::from_millis(args.number(1));
    let end = Instant::now() + time;
    let burners: Vec<_> = (0..args.number::<u32>(0)).map(|_| thread::spawn(move || spin(end))).collect();
    for burner in burners {
        // A thread that can't be joined has used CPU time too.
        let _ = burner.join();
    }
    sys::say(&cpu_time()?.as_millis().to_string())
}

fn spin(end: Instant) {
    let mut turns = 0_u64;
    while Instant::now() < end {
        turns = black_box(turns.wrapping_add(1));
    }
}

fn cpu_time() -> Result<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock writes one timespec.
    sys::check(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) })?;
    Ok(Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}
