//! The files to try for a program's name. Pure: nothing here looks at the file system.

use std::ffi::{CStr, CString};

use rustix::io::Errno;

/// Where to look for programs when the environment has no `PATH`.
const DEFAULT_PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";

/// The files to try, in order. A name with a slash is the file itself.
pub(crate) fn candidates(program: &CStr, env: &[CString]) -> Vec<CString> {
    let name = program.to_bytes();
    if name.is_empty() || name.contains(&b'/') {
        return vec![program.to_owned()];
    }
    search_path(env).split(|byte| *byte == b':').filter_map(|directory| join(directory, name)).collect()
}

/// The first `PATH` in the environment, as the C library picks it.
fn search_path(env: &[CString]) -> &[u8] {
    env.iter().find_map(|entry| entry.to_bytes().strip_prefix(b"PATH=")).unwrap_or(DEFAULT_PATH)
}

/// An empty entry means the working directory.
fn join(directory: &[u8], name: &[u8]) -> Option<CString> {
    let mut file = directory.to_vec();
    if !file.is_empty() {
        file.push(b'/');
    }
    file.extend_from_slice(name);
    CString::new(file).ok()
}

/// The error that remains after a file could not be run, or `None` to stop the search. "Permission denied"
/// outlives "not found", so a file without its execute bit is not reported as missing.
pub(crate) fn next_error(so_far: Errno, error: Errno) -> Option<Errno> {
    match error {
        Errno::ACCESS => Some(Errno::ACCESS),
        Errno::NOENT | Errno::NOTDIR | Errno::NODEV | Errno::STALE | Errno::TIMEDOUT => Some(so_far),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(program: &str, env: &[&str]) -> Vec<String> {
        let env: Vec<_> = env.iter().map(|entry| CString::new(*entry).unwrap()).collect();
        candidates(&CString::new(program).unwrap(), &env)
            .into_iter()
            .map(|file| file.into_string().unwrap())
            .collect()
    }

    #[test]
    fn a_slash_means_the_file_itself() {
        assert_eq!(tried("./x", &["PATH=/bin"]), ["./x"]);
        assert_eq!(tried("/x/y", &[]), ["/x/y"]);
    }

    #[test]
    fn the_given_path_is_searched_in_order() {
        assert_eq!(tried("x", &["A=1", "PATH=/a::/b", "PATH=/c"]), ["/a/x", "x", "/b/x"]);
    }

    #[test]
    fn without_a_path_there_is_a_default() {
        assert_eq!(tried("x", &["HOME=/"]), ["/usr/local/bin/x", "/usr/bin/x", "/bin/x"]);
    }

    #[test]
    fn an_empty_name_is_tried_as_it_is() {
        assert_eq!(tried("", &["PATH=/a"]), [""]);
    }

    #[test]
    fn denied_outlives_missing() {
        let after_denied = next_error(Errno::NOENT, Errno::ACCESS);
        assert_eq!(after_denied, Some(Errno::ACCESS));
        assert_eq!(next_error(Errno::ACCESS, Errno::NOENT), Some(Errno::ACCESS));
        assert_eq!(next_error(Errno::NOENT, Errno::NOMEM), None);
    }
}
