//! A file system whose files never answer: a process that opens one sleeps in the kernel, out of reach of
//! signals, until it is unmounted.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tempfile::TempDir;

const LOOKUP: u32 = 1;
const FORGET: u32 = 2;
const GETATTR: u32 = 3;
const INIT: u32 = 26;
const BATCH_FORGET: u32 = 42;
const ENOSYS: i32 = 38;

/// The offset of the payload, after the header of a request.
const HEADER: usize = 40;

/// The file that never answers.
pub(crate) const FILE: &str = "never";

/// Mounted for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Hung {
    dir: TempDir,
    asked: Arc<AtomicBool>,
}

impl Hung {
    /// Mounts one, or returns `None` where mounting is not allowed.
    pub(crate) fn mount() -> Option<Self> {
        let device = OpenOptions::new().read(true).write(true).open("/dev/fuse").ok()?;
        let dir = tempfile::tempdir().unwrap();
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0,allow_other", device.as_raw_fd());
        let data = std::ffi::CString::new(options).unwrap();
        rustix::mount::mount("hung", dir.path(), "fuse", rustix::mount::MountFlags::empty(), &*data).ok()?;
        let asked = Arc::<AtomicBool>::default();
        let heard = Arc::clone(&asked);
        thread::spawn(move || serve(device, &heard));
        Some(Self { dir, asked })
    }

    /// Whether a process waits for the file.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

impl Drop for Hung {
    fn drop(&mut self) {
        // By force: processes that sleep in it are woken with an error.
        let _ = Command::new("umount").args(["-f", "-l"]).arg(self.dir.path()).status();
    }
}

/// Answers the requests that mounting needs, and never those for the file. Ends when it is unmounted.
fn serve(mut device: File, asked: &AtomicBool) {
    let mut request = vec![0; 1 << 17];
    while let Ok(length) = device.read(&mut request) {
        let code = u32::from_le_bytes(request[4..8].try_into().unwrap());
        let name = request[HEADER..length].split(|byte| *byte == 0).next().unwrap_or_default();
        let answer = match code {
            LOOKUP if name == FILE.as_bytes() => {
                asked.store(true, Ordering::Release);
                continue;
            }
            FORGET | BATCH_FORGET => continue,
            INIT => Ok(init()),
            GETATTR => Ok(root()),
            _ => Err(ENOSYS),
        };
        let (error, body) = answer.map_or_else(|error| (-error, Vec::new()), |body| (0, body));
        let mut reply = Vec::new();
        reply.extend((16 + body.len() as u32).to_le_bytes());
        reply.extend(error.to_le_bytes());
        reply.extend(&request[8..16]);
        reply.extend(body);
        // An interrupted request needs no answer.
        let _ = device.write(&reply);
    }
}

/// Version 7.31, and the minimum of everything else.
fn init() -> Vec<u8> {
    let mut body = vec![0; 64];
    body[0..4].copy_from_slice(&7u32.to_le_bytes());
    body[4..8].copy_from_slice(&31u32.to_le_bytes());
    body[20..24].copy_from_slice(&4096u32.to_le_bytes());
    body
}

/// A directory that every user may enter, valid for an hour.
fn root() -> Vec<u8> {
    let mut body = vec![0; 104];
    body[0..8].copy_from_slice(&3600u64.to_le_bytes());
    body[16..24].copy_from_slice(&1u64.to_le_bytes());
    body[76..80].copy_from_slice(&0o040_755_u32.to_le_bytes());
    body[80..84].copy_from_slice(&2u32.to_le_bytes());
    body
}
