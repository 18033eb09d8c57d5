//! Lanes of named pipes.

use std::fs::{self, Permissions};
use std::io::{self, Cursor};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use exec_files::{Dir, Sharing};
use exec_watch::{SweepMode, unique};
use exec_wire::reaper::Directory;
use exec_wire::{LANE_ANSWER, LANE_IN, LANE_OUT};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::time::timeout;

use super::leftovers;
use super::stream::{Reader, Writer};
use crate::Attached;

/// PID 1 answers as soon as it runs. One that has not done so by then never will, and whoever waits for it to be ready
/// says so.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// Removes what dead processes left below a directory, or only lists it.
pub(crate) fn clear(directory: &Path, mode: SweepMode) -> Vec<String> {
    leftovers::clear(directory, mode)
}

/// Where the lanes of one executor are until they are taken. Nobody else on this machine gets through it.
#[derive(Debug)]
pub(crate) struct Lanes {
    path: PathBuf,
    directory: Directory,
}

impl Lanes {
    /// Lanes below this directory; none if it is not ours, or its path is too long. Makes no lane yet: the helper that cleans
    /// up after us is told first.
    pub(crate) fn below(directory: &Path) -> Option<Self> {
        let refused = |error: &io::Error| tracing::debug!(%error, "no place for lanes");
        Dir::make_own(directory, Sharing::Readable).inspect_err(refused).ok()?;
        leftovers::clear(directory, SweepMode::Remove);
        let path = directory.join(unique(&leftovers::prefix()?));
        path.to_str()?;
        Some(Self { directory: Directory::new(path.as_os_str().as_bytes()).ok()?, path })
    }

    /// Where they are, for whoever has to clean up after us.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// A lane for one container.
    pub(crate) fn lay(&self) -> io::Result<Lane> {
        Dir::make_own(&self.path, Sharing::Closed)?;
        Lane::lay(self.path.join(unique("lane")))
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        fs::remove_dir(&self.path).ok();
    }
}

/// A lane that was not taken yet.
#[derive(Debug)]
pub(crate) struct Lane {
    place: Place,
    receiver: Receiver,
    sender: Sender,
}

impl Lane {
    fn lay(path: PathBuf) -> io::Result<Self> {
        fs::create_dir(&path)?;
        let place = Place(path);
        // The cell's user may be any; the way here is closed to all but us.
        place.open_to_all("", 0o755)?;
        for name in [LANE_IN, LANE_OUT] {
            mknodat(CWD, place.0.join(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
            place.open_to_all(name, 0o666)?;
        }
        let receiver = OpenOptions::new().open_receiver(place.0.join(LANE_OUT))?;
        // For reading too: there is nobody at the other end yet.
        let sender = OpenOptions::new().read_write(true).open_sender(place.0.join(LANE_IN))?;
        Ok(Self { place, receiver, sender })
    }

    /// What to mount. Checked to be text when the lanes' place was chosen.
    pub(crate) fn directory(&self) -> &str {
        self.place.0.to_str().unwrap_or_default()
    }

    /// The stream of a container that was started with this lane: the lane if its PID 1 takes it, else the engine's.
    pub(crate) async fn meet(self, mut attached: Attached) -> Attached {
        let Self { place, mut receiver, sender } = self;
        let mut first = [0; 512];
        let heard = timeout(ANSWER_LIMIT, async {
            tokio::select! {
                biased;
                answer = receiver.read_u8() => answer.map(|_| None),
                read = attached.reader.read(&mut first) => read.map(Some),
            }
        });
        let heard = heard.await;
        // Before any command runs: the cell is not greeted yet.
        drop(place);
        match heard {
            Ok(Ok(None)) => Attached {
                reader: Box::new(Reader { lane: receiver, lifeline: attached.reader }),
                writer: Box::new(Writer { lane: Some(sender), lifeline: attached.writer }),
            },
            Ok(Ok(Some(count))) => {
                tracing::debug!("PID 1 does not take its lane; everything goes through the engine");
                let bytes = &first[..count];
                let bytes = bytes.strip_prefix(&[LANE_ANSWER]).unwrap_or(bytes).to_vec();
                Attached { reader: Box::new(Cursor::new(bytes).chain(attached.reader)), ..attached }
            }
            // What is the matter shows on the engine's stream.
            Ok(Err(_)) | Err(_) => attached,
        }
    }
}

/// A lane's directory; gone when this is.
#[derive(Debug)]
struct Place(PathBuf);

impl Place {
    fn open_to_all(&self, name: &str, mode: u32) -> io::Result<()> {
        fs::set_permissions(self.0.join(name), Permissions::from_mode(mode))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes a lane, and nothing that does not look like one.
fn remove(lane: &Path) {
    for name in [LANE_IN, LANE_OUT] {
        fs::remove_file(lane.join(name)).ok();
    }
    fs::remove_dir(lane).ok();
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use tokio::io::{AsyncWriteExt, duplex};

    use super::*;

    struct Rig {
        _home: tempfile::TempDir,
        lanes: Lanes,
    }

    fn rig() -> Rig {
        let home = tempfile::tempdir().unwrap();
        Rig { lanes: Lanes::below(home.path()).unwrap(), _home: home }
    }

    /// What the engine gives us, and the container's end of it.
    fn attached() -> (Attached, tokio::io::DuplexStream) {
        let (ours, its) = duplex(64);
        let (reader, writer) = tokio::io::split(ours);
        (Attached { reader: Box::new(reader), writer: Box::new(writer) }, its)
    }

    /// A12
    #[tokio::test]
    async fn a_lane_that_is_taken_carries_and_leaves_no_name() {
        let Rig { lanes, _home } = rig();
        let lane = lanes.lay().unwrap();
        let path = lane.place.0.clone();
        let mut out = fs::OpenOptions::new().write(true).open(path.join(LANE_OUT)).unwrap();
        let inside = OpenOptions::new().open_receiver(path.join(LANE_IN)).unwrap();
        out.write_all(&[LANE_ANSWER, b'h', b'i']).unwrap();
        let (engine, _its) = attached();
        let mut met = lane.meet(engine).await;
        assert!(!path.exists());
        let mut word = [0; 2];
        met.reader.read_exact(&mut word).await.unwrap();
        assert_eq!(&word, b"hi");
        met.writer.write_all(b"yo").await.unwrap();
        let mut inside = inside;
        inside.read_exact(&mut word).await.unwrap();
        assert_eq!(&word, b"yo");
        met.writer.shutdown().await.unwrap();
        assert_eq!(inside.read(&mut word).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn without_the_lane_everything_goes_through_the_engine() {
        for (said, arrives) in [(&[LANE_ANSWER, b'h', b'i'][..], b"hi"), (&b"hi"[..], b"hi")] {
            let Rig { lanes, _home } = rig();
            let lane = lanes.lay().unwrap();
            let path = lane.place.0.clone();
            let (engine, mut its) = attached();
            its.write_all(said).await.unwrap();
            let mut met = lane.meet(engine).await;
            assert!(!path.exists());
            let mut word = [0; 2];
            met.reader.read_exact(&mut word).await.unwrap();
            assert_eq!(&word, arrives);
        }
    }

    #[tokio::test]
    async fn nothing_is_left_of_lanes_that_are_dropped() {
        let Rig { lanes, _home } = rig();
        let (lane, path) = (lanes.lay().unwrap(), lanes.path.clone());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop((lane, lanes));
        assert!(!path.exists());
    }
}
