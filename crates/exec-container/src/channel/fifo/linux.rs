//! FIFO channels on Linux, made of named pipes.

use std::fs::{self, Permissions};
use std::io::{self, Cursor};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use exec_control::{SweepMode, unique};
use exec_files::{Dir, Sharing};
use exec_wire::reaper::Directory;
use exec_wire::{FIFO_ANSWER, FIFO_IN, FIFO_OUT};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};
use tokio::time::timeout;

use super::leftovers;
use super::stream::{Reader, Writer};
use crate::Attached;

/// PID 1 answers as soon as it runs. If it has not answered by then, it never will; the wait for the cell to be ready
/// reports that.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// Removes the FIFO channels of dead processes below a directory, or only lists them.
pub(crate) fn clear(directory: &Path, mode: SweepMode) -> Vec<String> {
    leftovers::clear(directory, mode)
}

/// The directory of one executor's FIFO channels until they are taken. Other users can't enter it.
#[derive(Debug)]
pub(crate) struct FifoChannels {
    path: PathBuf,
    directory: Directory,
}

impl FifoChannels {
    /// FIFO channels below this directory; `None` if it is not ours or its path is too long. Creates nothing yet: the
    /// reaper must know the directory first.
    pub(crate) fn below(directory: &Path) -> Option<Self> {
        let refused = |error: &io::Error| tracing::debug!(%error, "no place for FIFO channels");
        Dir::make_own(directory, Sharing::Readable).inspect_err(refused).ok()?;
        leftovers::clear(directory, SweepMode::Remove);
        let path = directory.join(unique(&leftovers::prefix()?));
        path.to_str()?;
        Some(Self { directory: Directory::new(path.as_os_str().as_bytes()).ok()?, path })
    }

    /// Their directory, for the reaper.
    pub(crate) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// A FIFO channel for one container.
    pub(crate) fn create(&self) -> io::Result<FifoChannel> {
        Dir::make_own(&self.path, Sharing::Closed)?;
        FifoChannel::create(self.path.join(unique("lane")))
    }
}

impl Drop for FifoChannels {
    fn drop(&mut self) {
        fs::remove_dir(&self.path).ok();
    }
}

/// A FIFO channel that is not taken yet.
#[derive(Debug)]
pub(crate) struct FifoChannel {
    place: Place,
    receiver: Receiver,
    sender: Sender,
}

impl FifoChannel {
    fn create(path: PathBuf) -> io::Result<Self> {
        fs::create_dir(&path)?;
        let place = Place(path);
        // The cell's user may be any. The directory above is closed to everyone but us.
        place.open_to_all("", 0o755)?;
        for name in [FIFO_IN, FIFO_OUT] {
            mknodat(CWD, place.0.join(name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
            place.open_to_all(name, 0o666)?;
        }
        let receiver = OpenOptions::new().open_receiver(place.0.join(FIFO_OUT))?;
        // Opened for reading too, because the other end is not open yet.
        let sender = OpenOptions::new().read_write(true).open_sender(place.0.join(FIFO_IN))?;
        Ok(Self { place, receiver, sender })
    }

    /// The directory to mount. `below` has checked that its path is UTF-8.
    pub(crate) fn directory(&self) -> &str {
        self.place.0.to_str().unwrap_or_default()
    }

    /// The stream of a container started with this FIFO channel: the channel if PID 1 takes it, else the engine's.
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
        // No command runs yet: the cell is not greeted yet.
        drop(place);
        match heard {
            Ok(Ok(None)) => Attached {
                reader: Box::new(Reader { fifo_channel: receiver, lifeline: attached.reader }),
                writer: Box::new(Writer { fifo_channel: Some(sender), lifeline: attached.writer }),
            },
            Ok(Ok(Some(count))) => {
                tracing::debug!("PID 1 does not take its FIFO channel; everything goes through the engine");
                let bytes = &first[..count];
                let bytes = bytes.strip_prefix(&[FIFO_ANSWER]).unwrap_or(bytes).to_vec();
                Attached { reader: Box::new(Cursor::new(bytes).chain(attached.reader)), ..attached }
            }
            // The engine's stream shows the reason.
            Ok(Err(_)) | Err(_) => attached,
        }
    }
}

/// A FIFO channel's directory, removed on drop.
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

/// Removes a FIFO channel, but nothing that does not look like one.
fn remove(fifo_channel: &Path) {
    for name in [FIFO_IN, FIFO_OUT] {
        fs::remove_file(fifo_channel.join(name)).ok();
    }
    fs::remove_dir(fifo_channel).ok();
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use tokio::io::{AsyncWriteExt, duplex};

    use super::*;

    struct Rig {
        _home: tempfile::TempDir,
        fifo_channels: FifoChannels,
    }

    fn rig() -> Rig {
        let home = tempfile::tempdir().unwrap();
        Rig { fifo_channels: FifoChannels::below(home.path()).unwrap(), _home: home }
    }

    /// The engine's stream, and the container's end of it.
    fn attached() -> (Attached, tokio::io::DuplexStream) {
        let (ours, its) = duplex(64);
        let (reader, writer) = tokio::io::split(ours);
        (Attached { reader: Box::new(reader), writer: Box::new(writer) }, its)
    }

    /// A12
    #[tokio::test]
    async fn a_fifo_channel_that_is_taken_carries_and_leaves_no_name() {
        let Rig { fifo_channels, _home } = rig();
        let fifo_channel = fifo_channels.create().unwrap();
        let path = fifo_channel.place.0.clone();
        let mut out = fs::OpenOptions::new().write(true).open(path.join(FIFO_OUT)).unwrap();
        let inside = OpenOptions::new().open_receiver(path.join(FIFO_IN)).unwrap();
        out.write_all(&[FIFO_ANSWER, b'h', b'i']).unwrap();
        let (engine, _its) = attached();
        let mut met = fifo_channel.meet(engine).await;
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
    async fn without_the_fifo_channel_everything_goes_through_the_engine() {
        for (said, arrives) in [(&[FIFO_ANSWER, b'h', b'i'][..], b"hi"), (&b"hi"[..], b"hi")] {
            let Rig { fifo_channels, _home } = rig();
            let fifo_channel = fifo_channels.create().unwrap();
            let path = fifo_channel.place.0.clone();
            let (engine, mut its) = attached();
            its.write_all(said).await.unwrap();
            let mut met = fifo_channel.meet(engine).await;
            assert!(!path.exists());
            let mut word = [0; 2];
            met.reader.read_exact(&mut word).await.unwrap();
            assert_eq!(&word, arrives);
        }
    }

    #[tokio::test]
    async fn nothing_is_left_of_lanes_that_are_dropped() {
        let Rig { fifo_channels, _home } = rig();
        let (fifo_channel, path) = (fifo_channels.create().unwrap(), fifo_channels.path.clone());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop((fifo_channel, fifo_channels));
        assert!(!path.exists());
    }
}
