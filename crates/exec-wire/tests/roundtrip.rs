//! What the crate guarantees for every frame and for any bytes.

use exec_wire::{
    Access, CgroupPlan, CgroupVersion, Closed, ContainerPlan, EndReason, Exited, Expected, Facts, Failed,
    Fatal, FileId, FromCell, HEADER_LEN, Header, IdMap, Identity, JailSpec, LandlockPlan, Lifetime, Limits,
    Missing, Mount, Namespaces, NetworkWall, Note, ReadBack, Resource, Rlimit, Stage, Start, Status, Stdio,
    Subject, ToCell, Walls, WindowSize, WireError,
};
use proptest::collection::vec;
use proptest::option::of as maybe;
use proptest::prelude::*;
use proptest::sample::select;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..40)
}

/// An argument as the kernel accepts it: anything but the terminating byte.
fn c_string() -> impl Strategy<Value = Vec<u8>> {
    vec(1..=u8::MAX, 0..40)
}

fn window() -> impl Strategy<Value = WindowSize> {
    any::<(u16, u16)>().prop_map(|(rows, cols)| WindowSize { rows, cols })
}

fn stdio() -> impl Strategy<Value = Stdio> {
    prop_oneof![any::<bool>().prop_map(|stdin| Stdio::Pipes { stdin }), window().prop_map(Stdio::Tty),]
}

fn limits() -> impl Strategy<Value = Limits> {
    (maybe(any::<u64>()), maybe(any::<u64>()), maybe(any::<u64>()), any::<u64>(), any::<u64>()).prop_map(
        |(wall_ms, idle_ms, output_bytes, grace_ms, drain_ms)| Limits {
            wall_ms,
            idle_ms,
            output_bytes,
            grace_ms,
            drain_ms,
        },
    )
}

fn rlimit() -> impl Strategy<Value = Rlimit> {
    let resources = vec![Resource::OpenFiles, Resource::Processes, Resource::Data, Resource::FileSize];
    (select(resources), any::<u64>()).prop_map(|(resource, value)| Rlimit { resource, value })
}

fn start() -> impl Strategy<Value = Start> {
    (
        vec(c_string(), 1..5),
        vec(c_string(), 0..5),
        vec(1..=u8::MAX, 1..40),
        stdio(),
        limits(),
        select(vec![Lifetime::Cell, Lifetime::Session]),
        any::<u32>(),
        vec(rlimit(), 0..4),
    )
        .prop_map(|(argv, env, cwd, stdio, limits, lifetime, umask, rlimits)| Start {
            argv,
            env,
            cwd,
            stdio,
            limits,
            lifetime,
            umask,
            rlimits,
        })
}

fn file_id() -> impl Strategy<Value = FileId> {
    any::<(u64, u64, u64)>().prop_map(|(dev, ino, born)| FileId { dev, ino, born })
}

fn mount() -> impl Strategy<Value = Mount> {
    prop_oneof![
        (
            bytes(),
            bytes(),
            select(vec![Access::Read, Access::Write]),
            maybe(file_id()),
            select(vec![Missing::Fail, Missing::Skip]),
        )
            .prop_map(|(source, target, access, expect, missing)| Mount::Bind {
                source,
                target,
                access,
                expect,
                missing
            }),
        (bytes(), any::<u64>(), any::<u32>()).prop_map(|(target, size, mode)| Mount::Tmpfs {
            target,
            size,
            mode
        }),
        Just(Mount::Proc),
        any::<u64>().prop_map(|shm_size| Mount::Dev { shm_size }),
        bytes().prop_map(|target| Mount::Mask { target }),
        (bytes(), bytes()).prop_map(|(target, to)| Mount::Symlink { target, to }),
        (bytes(), bytes()).prop_map(|(target, contents)| Mount::File { target, contents }),
    ]
}

fn walls() -> impl Strategy<Value = Walls> {
    let namespaces = (
        select(vec![IdMap::Caller, IdMap::All]),
        select(vec![NetworkWall::Isolated, NetworkWall::Host]),
        any::<String>(),
        vec(mount(), 0..4),
    )
        .prop_map(|(ids, network, hostname, mounts)| Namespaces { ids, network, hostname, mounts });
    prop_oneof![
        bytes().prop_map(|scratch| Walls::Subreaper { scratch }),
        namespaces.prop_map(Walls::Namespaces)
    ]
}

fn landlock() -> impl Strategy<Value = LandlockPlan> {
    (any::<bool>(), vec(bytes(), 0..4), vec(bytes(), 0..4)).prop_map(|(deny_tcp, read, write)| LandlockPlan {
        deny_tcp,
        read,
        write,
    })
}

fn container() -> impl Strategy<Value = ContainerPlan> {
    let expected = (bytes(), file_id()).prop_map(|(target, id)| Expected { target, id });
    (maybe(landlock()), any::<bool>(), vec(expected, 0..4))
        .prop_map(|(landlock, fifo_channel, expect)| ContainerPlan { landlock, fifo_channel, expect })
}

fn jail() -> impl Strategy<Value = JailSpec> {
    let identity = (any::<u32>(), any::<u32>(), vec(any::<u32>(), 0..4))
        .prop_map(|(uid, gid, groups)| Identity { uid, gid, groups });
    let cgroup = (any::<String>(), maybe(any::<u64>()), maybe(any::<u64>()), maybe(any::<u64>()))
        .prop_map(|(name, memory, pids, cpu_milli)| CgroupPlan { name, memory, pids, cpu_milli });
    let records = vec(vec(any::<u8>(), 0..40), 0..3);
    (walls(), identity, cgroup, maybe(landlock()), vec(any::<u8>(), 0..40), records).prop_map(
        |(walls, identity, cgroup, landlock, log_note, records)| JailSpec {
            walls,
            identity,
            cgroup,
            landlock,
            log_note,
            records,
        },
    )
}

/// All frames to the cell except those that borrow their payload.
fn to_cell() -> impl Strategy<Value = ToCell<'static>> {
    prop_oneof![
        any::<u16>().prop_map(|version| ToCell::Hello { version }),
        jail().prop_map(|spec| ToCell::Jail(Box::new(spec))),
        container().prop_map(|plan| ToCell::Container(Box::new(plan))),
        start().prop_map(|start| ToCell::Start(Box::new(start))),
        Just(ToCell::StdinEof),
        any::<u32>().prop_map(ToCell::Credit),
        any::<i32>().prop_map(ToCell::Signal),
        window().prop_map(ToCell::Resize),
        any::<u64>().prop_map(|grace_ms| ToCell::Stop { grace_ms }),
        any::<u64>().prop_map(ToCell::Ping),
    ]
}

fn note() -> impl Strategy<Value = Note> {
    let subjects = vec![
        Subject::NoNewPrivileges,
        Subject::Capabilities,
        Subject::NotDumpable,
        Subject::CoreDumps,
        Subject::SyscallFilter,
        Subject::Landlock,
        Subject::ControlGroups,
        Subject::Memory,
        Subject::Pids,
        Subject::Cpu,
        Subject::Quotas,
    ];
    (select(subjects), any::<String>()).prop_map(|(about, why)| Note { about, why })
}

fn fatal() -> impl Strategy<Value = Fatal> {
    prop_oneof![
        any::<String>().prop_map(Fatal::Other),
        any::<String>().prop_map(Fatal::NamespacesUnavailable),
        (any::<String>(), maybe(any::<String>())).prop_map(|(path, why)| Fatal::MountMismatch { path, why }),
    ]
}

fn facts() -> impl Strategy<Value = Facts> {
    let version = maybe(select(vec![CgroupVersion::V1, CgroupVersion::V2]));
    let limits = (version, maybe(any::<u64>()), maybe(any::<u64>()), maybe(any::<u64>()))
        .prop_map(|(cgroup, memory, pids, cpu_milli)| ReadBack { cgroup, memory, pids, cpu_milli });
    (any::<(u16, bool, u32, u32, u64, bool, bool, u32)>(), maybe(any::<u64>()), limits, vec(note(), 0..4))
        .prop_map(|(plain, inotify_instances, limits, notes)| {
            let (version, pid_namespace, uid, gid, capabilities, no_new_privs, seccomp, landlock_abi) = plain;
            Facts {
                version,
                pid_namespace,
                uid,
                gid,
                capabilities,
                no_new_privs,
                seccomp,
                landlock_abi,
                inotify_instances,
                limits,
                notes,
            }
        })
}

fn exited() -> impl Strategy<Value = Exited> {
    let reasons = vec![
        EndReason::Own,
        EndReason::WallTime,
        EndReason::IdleTime,
        EndReason::OutputLimit,
        EndReason::Stopped,
    ];
    let status = prop_oneof![any::<i32>().prop_map(Status::Code), any::<i32>().prop_map(Status::Signal)];
    (select(reasons), status).prop_map(|(reason, status)| Exited { reason, status })
}

fn closed() -> impl Strategy<Value = Closed> {
    (any::<(u64, u64, u64, u64, u64, u64, u64)>(), vec(any::<u32>(), 0..5)).prop_map(
        |(numbers, survivors)| {
            let (user_us, system_us, peak_memory, oom_kills, pids_denied, stdout_bytes, stderr_bytes) =
                numbers;
            Closed {
                user_us,
                system_us,
                peak_memory,
                oom_kills,
                pids_denied,
                stdout_bytes,
                stderr_bytes,
                survivors,
            }
        },
    )
}

/// All frames from the cell except those that borrow their payload.
fn from_cell() -> impl Strategy<Value = FromCell<'static>> {
    let stages = vec![Stage::Stdio, Stage::Fork, Stage::Cwd, Stage::Confine, Stage::Exec, Stage::Refused];
    prop_oneof![
        facts().prop_map(|facts| FromCell::Ready(Box::new(facts))),
        any::<u32>().prop_map(|pid| FromCell::Started { pid }),
        (select(stages), any::<i32>()).prop_map(|(stage, errno)| FromCell::Failed(Failed { stage, errno })),
        any::<u32>().prop_map(FromCell::StdinCredit),
        exited().prop_map(FromCell::Exited),
        closed().prop_map(FromCell::Closed),
        any::<u64>().prop_map(FromCell::Pong),
        fatal().prop_map(FromCell::Fatal),
    ]
}

/// Decoded bytes have one meaning: encoded again they are the same bytes.
fn decodes_to_itself_or_not_at_all(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(Some((header, payload))) = Header::split(bytes) else { return Ok(()) };
    let frame = &bytes[..header.frame_len()];
    if let Ok(value) = ToCell::decode(&header, payload) {
        let mut again = Vec::new();
        value.encode(header.run, &mut again);
        prop_assert_eq!(again, frame);
    }
    if let Ok(value) = FromCell::decode(&header, payload) {
        let mut again = Vec::new();
        value.encode(header.run, &mut again);
        prop_assert_eq!(again, frame);
    }
    Ok(())
}

/// A frame whose payload lost its last bytes, with a matching header.
fn shortened(frame: &[u8], lost: usize) -> Option<(Header, Vec<u8>)> {
    let (header, payload) = Header::split(frame).ok()??;
    let kept = payload.len().checked_sub(lost)?;
    Some((Header { len: kept as u32, ..header }, payload[..kept].to_vec()))
}

proptest! {
    #[test]
    fn every_frame_to_the_cell_arrives_as_sent(frame in to_cell(), run: u32) {
        let mut bytes = Vec::new();
        frame.encode(run, &mut bytes);
        let (header, payload) = Header::split(&bytes).unwrap().unwrap();
        prop_assert_eq!(header.run, run);
        prop_assert_eq!(header.frame_len(), bytes.len());
        prop_assert_eq!(ToCell::decode(&header, payload), Ok(frame));
    }

    #[test]
    fn every_frame_from_the_cell_arrives_as_sent(frame in from_cell(), run: u32) {
        let mut bytes = Vec::new();
        frame.encode(run, &mut bytes);
        let (header, payload) = Header::split(&bytes).unwrap().unwrap();
        prop_assert_eq!(header.run, run);
        prop_assert_eq!(header.frame_len(), bytes.len());
        prop_assert_eq!(FromCell::decode(&header, payload), Ok(frame));
    }

    #[test]
    fn data_arrives_as_sent(data in vec(any::<u8>(), 0..2000), run: u32) {
        let mut bytes = Vec::new();
        ToCell::Stdin(&data).encode(run, &mut bytes);
        let (header, payload) = Header::split(&bytes).unwrap().unwrap();
        prop_assert_eq!(ToCell::decode(&header, payload), Ok(ToCell::Stdin(&data)));
        for frame in [FromCell::Stdout(&data), FromCell::Stderr(&data)] {
            let mut bytes = Vec::new();
            frame.encode(run, &mut bytes);
            let (header, payload) = Header::split(&bytes).unwrap().unwrap();
            prop_assert_eq!(FromCell::decode(&header, payload), Ok(frame));
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..400)) {
        decodes_to_itself_or_not_at_all(&bytes)?;
    }

    #[test]
    fn arbitrary_payloads_of_every_kind_never_panic(kind: u8, run: u32, payload in vec(any::<u8>(), 0..400)) {
        let mut bytes = Header { kind, run, len: payload.len() as u32 }.to_bytes().to_vec();
        bytes.extend(payload);
        decodes_to_itself_or_not_at_all(&bytes)?;
    }

    #[test]
    fn an_unfinished_frame_is_not_a_frame(frame in to_cell(), cut: prop::sample::Index) {
        let mut bytes = Vec::new();
        frame.encode(1, &mut bytes);
        let cut = cut.index(bytes.len());
        prop_assert_eq!(Header::split(&bytes[..cut]), Ok(None));
    }

    #[test]
    fn a_payload_that_lost_bytes_is_an_error(frame in to_cell(), lost in 1_usize..60) {
        let mut bytes = Vec::new();
        frame.encode(1, &mut bytes);
        if let Some((header, payload)) = shortened(&bytes, lost) {
            prop_assert!(ToCell::decode(&header, &payload).is_err());
        }
    }

    #[test]
    fn an_answer_that_lost_bytes_is_an_error(frame in from_cell(), lost in 1_usize..60) {
        let mut bytes = Vec::new();
        frame.encode(1, &mut bytes);
        if let Some((header, payload)) = shortened(&bytes, lost) {
            prop_assert!(FromCell::decode(&header, &payload).is_err());
        }
    }

    #[test]
    fn a_payload_with_trailing_bytes_is_an_error(frame in to_cell(), extra in vec(any::<u8>(), 1..20)) {
        let mut bytes = Vec::new();
        frame.encode(1, &mut bytes);
        let header = Header::split(&bytes).unwrap().unwrap().0;
        let mut payload = bytes.split_off(HEADER_LEN);
        payload.extend(&extra);
        let longer = Header { len: payload.len() as u32, ..header };
        prop_assert_eq!(ToCell::decode(&longer, &payload), Err(WireError::TrailingBytes(extra.len())));
    }

    #[test]
    fn a_flipped_bit_is_an_error_or_another_frame(frame in to_cell(), at: prop::sample::Index, bit in 0..8) {
        let mut bytes = Vec::new();
        frame.encode(1, &mut bytes);
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        decodes_to_itself_or_not_at_all(&bytes)?;
        if let Ok(Some((header, payload))) = Header::split(&bytes)
            && header.run == 1
        {
            prop_assert_ne!(ToCell::decode(&header, payload), Ok(frame));
        }
    }

    #[test]
    fn a_flipped_bit_in_an_answer_is_an_error_or_another_frame(
        frame in from_cell(),
        at: prop::sample::Index,
        bit in 0..8,
    ) {
        let mut bytes = Vec::new();
        frame.encode(1, &mut bytes);
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        decodes_to_itself_or_not_at_all(&bytes)?;
    }
}

#[test]
fn lengths_beyond_the_most_are_refused_by_the_header_alone() {
    for kind in 0..=u8::MAX {
        let header = Header { kind, run: 1, len: u32::MAX };
        assert!(Header::parse(header.to_bytes()).is_err(), "kind {kind:#04x}");
    }
}

#[test]
fn the_kinds_of_the_two_directions_are_apart() {
    for kind in 0..=u8::MAX {
        let header = Header { kind, run: 1, len: 0 };
        let to = ToCell::decode(&header, &[]) != Err(WireError::UnknownKind(kind));
        let from = FromCell::decode(&header, &[]) != Err(WireError::UnknownKind(kind));
        assert!(!(to && from), "kind {kind:#04x}");
    }
}

#[test]
fn an_impossible_count_is_refused_before_allocating() {
    let header = Header { kind: 0x02, run: 1, len: 4 };
    assert_eq!(ToCell::decode(&header, &u32::MAX.to_le_bytes()), Err(WireError::Truncated));
}

#[test]
fn commands_that_no_kernel_could_run_are_refused() {
    let plain = Start {
        argv: vec![b"true".to_vec()],
        env: Vec::new(),
        cwd: b"/".to_vec(),
        stdio: Stdio::Pipes { stdin: false },
        limits: Limits { wall_ms: None, idle_ms: None, output_bytes: None, grace_ms: 0, drain_ms: 0 },
        lifetime: Lifetime::Cell,
        umask: 0,
        rlimits: Vec::new(),
    };
    let broken = [
        (Start { argv: Vec::new(), ..plain.clone() }, "argv"),
        (Start { argv: vec![b"a\0b".to_vec()], ..plain.clone() }, "argv"),
        (Start { env: vec![b"A=\0".to_vec()], ..plain.clone() }, "env"),
        (Start { cwd: Vec::new(), ..plain.clone() }, "cwd"),
        (Start { cwd: b"/\0".to_vec(), ..plain }, "cwd"),
    ];
    for (start, field) in broken {
        let mut bytes = Vec::new();
        ToCell::Start(Box::new(start)).encode(1, &mut bytes);
        let (header, payload) = Header::split(&bytes).unwrap().unwrap();
        assert_eq!(ToCell::decode(&header, payload), Err(WireError::BadValue(field)));
    }
}
