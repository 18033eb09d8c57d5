//! `/proc/<pid>/mountinfo`.

use std::borrow::Cow;

/// One mount. Paths are bytes, with the kernel's escapes undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount<'a> {
    /// The directory of the file system that is mounted.
    pub root: Cow<'a, [u8]>,
    /// Where it is mounted.
    pub point: Cow<'a, [u8]>,
    /// The type of the file system.
    pub file_system: &'a [u8],
    /// The device, or the name that was given instead of one.
    pub source: Cow<'a, [u8]>,
    /// Options of the file system, separated by commas.
    options: &'a [u8],
}

/// The mounts of a table, in its order. Lines that are not mounts are skipped.
pub fn mounts(table: &[u8]) -> impl Iterator<Item = Mount<'_>> {
    table.split(|byte| *byte == b'\n').filter_map(Mount::parse)
}

impl<'a> Mount<'a> {
    /// Parses `id parent major:minor ROOT POINT options [tags…] - TYPE SOURCE SUPER-OPTIONS`.
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let root = unescape(fields.nth(3)?);
        let point = unescape(fields.next()?);
        // The number of tags varies; the next field that is a lone dash ends them.
        let file_system = fields.by_ref().skip_while(|field| *field != b"-").nth(1)?;
        let source = unescape(fields.next()?);
        Some(Self { root, point, file_system, source, options: fields.next()? })
    }

    /// Whether the file system has this option. The options of a v1 control group hierarchy name its controllers.
    pub fn has_option(&self, name: &str) -> bool {
        self.options.split(|byte| *byte == b',').any(|option| option == name.as_bytes())
    }
}

/// Replaces `\040` and the like: the kernel writes spaces, tabs, newlines and backslashes in octal.
fn unescape(field: &[u8]) -> Cow<'_, [u8]> {
    if !field.contains(&b'\\') {
        return field.into();
    }
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        if let (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) = (first, after) {
            out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
            rest = tail;
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TABLE: &[u8] = b"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
        32 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:2 - cgroup cgroup rw,cpu,cpuacct\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 none rw\n\
        42 31 0:39 / /empty-source rw - tmpfs  rw\n";

    #[test]
    fn fields_are_read() {
        let found: Vec<_> = mounts(TABLE).collect();
        let expected = Mount {
            root: b"/docker/ab".into(),
            point: b"/sys/fs/cgroup/cpu,cpuacct".into(),
            file_system: b"cgroup",
            source: b"cgroup".into(),
            options: b"rw,cpu,cpuacct",
        };
        assert_eq!(found[1], expected);
        assert!(
            found[1].has_option("cpuacct")
                && !found[1].has_option("acct")
                && !found[1].has_option("shared:9")
        );
        assert_eq!(
            found.last().map(|mount| (&*mount.point, &*mount.source)),
            Some((&b"/empty-source"[..], &b""[..]))
        );
    }

    fn only(line: &[u8]) -> Mount<'_> {
        mounts(line).next().unwrap()
    }

    #[test]
    fn escapes_are_undone() {
        let mount = only(br"9 8 0:1 /a\134b /x\040y\011z\012\303\251\ rw - fuse s\040p rw");
        assert_eq!(&*mount.root, br"/a\b");
        assert_eq!(&*mount.point, b"/x y\tz\n\xc3\xa9\\");
        assert_eq!(&*mount.source, b"s p");
        for unchanged in [br"/\04".as_slice(), br"/\048", br"/\400", br"/\x20", b"/\xff\\"] {
            assert_eq!(unescape(unchanged), unchanged);
        }
    }

    /// The kernel escapes the spaces of a path, so no mount point can end the tags or begin another line.
    #[test]
    fn a_mount_point_can_not_pretend_to_be_fields() {
        let mount = only(br"9 8 0:1 / /home/\040-\040cgroup2\040x\040rw\012 rw - fuse s rw");
        assert_eq!(mount.file_system, b"fuse");
        assert_eq!(&*mount.point, b"/home/ - cgroup2 x rw\n");
    }

    /// One strange line must not hide the others.
    #[test]
    fn nonsense_is_skipped() {
        let table = b"a b c\n\\\\0 - cgroup2\n1 2 3 / /x rw - \n\xff\n9 8 0:1 / /\xff rw - tmpfs t rw\n";
        let points: Vec<_> = mounts(table).map(|mount| mount.point.into_owned()).collect();
        assert_eq!(points, [b"/\xff"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            mounts(&bytes).for_each(drop);
        }

        #[test]
        fn an_escaped_path_is_read_back(path: Vec<u8>) {
            let escaped: Vec<u8> = path
                .iter()
                .flat_map(|byte| match byte {
                    b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
                    other => vec![*other],
                })
                .collect();
            prop_assert_eq!(&*unescape(&escaped), &*path);
        }
    }
}
