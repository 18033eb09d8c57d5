//! Reads files in `/proc`. A scan of all processes reads many.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Most files fit, so that one read gets everything and a second one the end. `std::fs::read` starts with a few
/// bytes, because the kernel reports a size of 0, and makes three times as many calls.
const USUAL: usize = 4096;

/// Reads a file by its path below `/proc`.
pub(crate) fn read(path: &str) -> Option<String> {
    let mut text = Vec::with_capacity(USUAL);
    File::open(Path::new("/proc").join(path)).ok()?.take(u64::MAX).read_to_end(&mut text).ok()?;
    String::from_utf8(text).ok()
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_file_is_read_however_long() {
        let library = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        assert_eq!(read("self/mountinfo"), Some(library));
        let maps = read("self/smaps").unwrap();
        assert!(maps.len() > USUAL && maps.ends_with('\n'), "{maps}");
        assert_eq!(read("self/no such file"), None);
    }
}
