//! Frames to the cell, written by one task so that a frame is never cut short by a dropped future.

use exec_wire::ToCell;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

/// Sends frames to a cell. Everything but standard input is small and paced by the caller; standard input is
/// sent against the cell's credit. So what can queue up here is bounded.
#[derive(Debug, Clone)]
pub(crate) struct FrameSender(mpsc::UnboundedSender<Message>);

#[derive(Debug)]
enum Message {
    Frame(Vec<u8>),
    Close,
}

impl FrameSender {
    /// Queues a frame; a cell that is gone ignores it.
    pub(crate) fn send(&self, run: u32, frame: &ToCell<'_>) {
        let mut bytes = Vec::with_capacity(64);
        frame.encode(run, &mut bytes);
        self.0.send(Message::Frame(bytes)).ok();
    }

    /// Queues several frames to be written at once.
    pub(crate) fn send_all(&self, run: u32, frames: &[ToCell<'_>]) {
        let mut bytes = Vec::new();
        for frame in frames {
            frame.encode(run, &mut bytes);
        }
        self.0.send(Message::Frame(bytes)).ok();
    }

    /// Ends the stream after what is queued, and with it the cell.
    pub(crate) fn close(&self) {
        self.0.send(Message::Close).ok();
    }
}

/// Starts the writing task. The stream ends when [`FrameSender::close`] is called or the last sender is dropped.
pub(crate) fn spawn(mut writer: Box<dyn AsyncWrite + Send + Unpin>) -> FrameSender {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Message::Frame(bytes)) = receiver.recv().await {
            // A write that fails means the cell is gone; the reading side learns the same and says so.
            if writer.write_all(&bytes).await.is_err() || writer.flush().await.is_err() {
                break;
            }
        }
        writer.shutdown().await.ok();
    });
    FrameSender(sender)
}
