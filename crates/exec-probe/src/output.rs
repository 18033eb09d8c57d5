//! Commands that read and write streams.

use std::os::unix::ffi::OsStrExt;
use std::time::Duration;

use crate::command::{Args, misuse};
use crate::sys::{self, Result, STDERR, STDIN, STDOUT};

/// The flood repeats this many bytes: a prime number, so that no buffer size hides a gap.
const PERIOD: usize = 251;
const BLOCK: usize = PERIOD * 256;

/// Prints its arguments, each followed by a NUL.
pub(crate) fn echo_args(args: &Args<'_>) -> Result<()> {
    let mut bytes = Vec::new();
    for word in args.words {
        bytes.extend_from_slice(word.as_bytes());
        bytes.push(0);
    }
    sys::write_all(STDOUT, &bytes)
}

/// Copies its input to its output.
pub(crate) fn cat(_: &Args<'_>) -> Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match sys::read(STDIN, &mut buffer)? {
            0 => return Ok(()),
            count => sys::write_all(STDOUT, buffer.get(..count).unwrap_or_default())?,
        }
    }
}

/// `flood stdout|stderr BYTES`: writes this many bytes without a newline; the byte at offset `i` is `i %
/// 251`.
pub(crate) fn flood(args: &Args<'_>) -> Result<()> {
    let (fd, mut left) = (stream(args), args.number::<usize>(1));
    let block = block();
    while left > 0 {
        let piece = block.get(..left.min(BLOCK)).unwrap_or_default();
        sys::write_all(fd, piece)?;
        left -= piece.len();
    }
    Ok(())
}

/// `flood-forever stdout|stderr`
pub(crate) fn flood_forever(args: &Args<'_>) -> Result<()> {
    let (fd, block) = (stream(args), block());
    loop {
        sys::write_all(fd, &block)?;
    }
}

/// `interleave N`: `o0` on standard output, `e0` on standard error, `o1` … Each is written only after the
/// previous one was read, so the reader can know their order.
pub(crate) fn interleave(args: &Args<'_>) -> Result<()> {
    for index in 0..args.number::<u32>(0) {
        sys::write_all(STDOUT, format!("o{index}\n").as_bytes())?;
        wait_until_read(STDOUT);
        sys::write_all(STDERR, format!("e{index}\n").as_bytes())?;
        wait_until_read(STDERR);
    }
    Ok(())
}

/// `tick COUNT MS`: prints a line every this many milliseconds.
pub(crate) fn tick(args: &Args<'_>) -> Result<()> {
    let pause = Duration::from_millis(args.number(1));
    for index in 0..args.number::<u32>(0) {
        sys::say(&format!("tick {index}"))?;
        sys::sleep(pause);
    }
    Ok(())
}

fn stream(args: &Args<'_>) -> i32 {
    match args.text(0).as_str() {
        "stdout" => STDOUT,
        "stderr" => STDERR,
        other => misuse(&format!("`{other}` is neither stdout nor stderr")),
    }
}

fn block() -> Vec<u8> {
    (0..BLOCK).map(|index| (index % PERIOD) as u8).collect()
}

/// Waits until a pipe is empty. Other files can't be queried and are not waited for.
fn wait_until_read(fd: i32) {
    while sys::unread(fd).is_ok_and(|count| count > 0) {
        std::thread::yield_now();
    }
}
