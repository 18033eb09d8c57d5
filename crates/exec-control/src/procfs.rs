//! Reads files in `/proc`. A scan of all processes reads many.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use exec_wire::procfs::Stat;

/// Most files fit, so that one read gets everything and a second one the end. `std::fs::read` starts with a few
/// bytes, because the kernel reports a size of 0, and makes three times as many calls.
const USUAL: usize = 4096;

/// Reads a file by its path below `/proc`. Bytes that are not UTF-8 are replaced: a process that puts such bytes into
/// its name must not become invisible.
pub(crate) fn read(path: &str) -> Option<String> {
    read_bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a file by its path below `/proc`.
pub(crate) fn read_bytes(path: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL);
    File::open(Path::new("/proc").join(path)).ok()?.take(u64::MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Reads the state of the process with this pid; `self` is this process.
pub(crate) fn stat(process: &str) -> Option<Stat> {
    Stat::parse(&read_bytes(&format!("{process}/stat"))?)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_file_is_read_however_long() {
        let library = std::fs::read("/proc/self/mountinfo").unwrap();
        assert_eq!(read_bytes("self/mountinfo"), Some(library));
        let maps = read("self/smaps").unwrap();
        assert!(maps.len() > USUAL && maps.ends_with('\n'), "{maps}");
        assert_eq!(read("self/no such file"), None);
    }
}
