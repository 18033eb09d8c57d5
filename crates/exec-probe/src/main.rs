//! The program that conformance cases run inside a cell: one static binary that forks, floods, hides and
//! attempts.
//!
//! It has no language runtime, which would repair what a case wants to see (closed descriptors, the
//! disposition of SIGPIPE). An attempt that the system refuses is a result, printed as `errno NAME`; only a
//! misuse of this program itself exits with an unexpected code.
#![cfg_attr(target_os = "linux", no_main)]
#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "its purpose is to make system calls that no safe library offers")
)]

#[cfg(target_os = "linux")]
mod attempt;
#[cfg(target_os = "linux")]
mod command;
#[cfg(target_os = "linux")]
mod errno;
#[cfg(target_os = "linux")]
mod facts;
#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod net;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod resources;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod terminal;

#[cfg(target_os = "linux")]
#[unsafe(no_mangle)]
extern "C" fn main(count: i32, argv: *const *const std::ffi::c_char) -> i32 {
    let words: Vec<std::ffi::OsString> = (1..count as usize)
        .map(|index| {
            use std::os::unix::ffi::OsStrExt;
            // SAFETY: the system passes `count` valid, NUL-terminated strings that live as long as the process.
            let word = unsafe { std::ffi::CStr::from_ptr(*argv.add(index)) };
            std::ffi::OsStr::from_bytes(word.to_bytes()).to_owned()
        })
        .collect();
    command::run(&words)
}

#[cfg(not(target_os = "linux"))]
fn main() {}
