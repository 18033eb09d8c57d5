//! Reads frames from the cell in one task and hands them to their runs.

use std::sync::Arc;

use bytes::{Buf, BytesMut};
use exec_core::Stream;
use exec_wire::{FromCell, HEADER_LEN, Header};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{mpsc, oneshot};

use crate::runs::{Death, Runs};

/// Room for a frame of the largest output piece and the beginning of the next.
const READ_SIZE: usize = 512 * 1024;

/// Replies about the cell rather than a run.
#[derive(Debug)]
pub(crate) struct CellReplies {
    pub(crate) ready: oneshot::Sender<Result<exec_wire::Facts, Death>>,
    pub(crate) pongs: mpsc::UnboundedSender<u64>,
}

/// Reads until the stream ends or breaks, and returns how.
pub(crate) async fn read_all(
    reader: Box<dyn AsyncRead + Send + Unpin>,
    runs: Arc<Runs>,
    replies: CellReplies,
) -> Death {
    let mut ready = Some(replies.ready);
    let death = FrameReader { reader, buffer: BytesMut::new() }.pump(&runs, &mut ready, &replies.pongs).await;
    if let Some(ready) = ready {
        ready.send(Err(death.clone())).ok();
    }
    death
}

struct FrameReader {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    buffer: BytesMut,
}

type Ready = Option<oneshot::Sender<Result<exec_wire::Facts, Death>>>;

impl FrameReader {
    async fn pump(&mut self, runs: &Runs, ready: &mut Ready, pongs: &mpsc::UnboundedSender<u64>) -> Death {
        loop {
            let header = match self.next_header(runs).await {
                Ok(header) => header,
                Err(death) => return death,
            };
            if let Err(message) = self.take(header, runs, ready, pongs) {
                return message;
            }
        }
    }

    /// Waits for a whole frame and returns its header; the frame stays in the buffer.
    async fn next_header(&mut self, runs: &Runs) -> Result<Header, Death> {
        loop {
            let mut wanted = HEADER_LEN;
            if let Some(head) = self.buffer.first_chunk::<HEADER_LEN>() {
                let header = Header::parse(*head).map_err(|error| Death::Broken(error.to_string()))?;
                if self.buffer.len() >= header.frame_len() {
                    return Ok(header);
                }
                wanted = header.frame_len();
            }
            runs.announce();
            // A block is used up before the next is allocated: every piece of output keeps its whole block alive.
            if self.buffer.capacity() < wanted {
                self.buffer.reserve(READ_SIZE);
            }
            match self.reader.read_buf(&mut self.buffer).await {
                Ok(0) if self.buffer.is_empty() => return Err(Death::Died("its stream ended".into())),
                Ok(0) => return Err(Death::Broken("its stream ended inside a frame".into())),
                Ok(_) => {}
                Err(error) => return Err(Death::Died(format!("reading from it failed: {error}"))),
            }
        }
    }

    fn take(
        &mut self,
        header: Header,
        runs: &Runs,
        ready: &mut Ready,
        pongs: &mpsc::UnboundedSender<u64>,
    ) -> Result<(), Death> {
        self.buffer.advance(HEADER_LEN);
        let payload = self.buffer.split_to(header.len as usize).freeze();
        let frame = FromCell::decode(&header, &payload).map_err(|error| Death::Broken(error.to_string()))?;
        let stream = match frame {
            FromCell::Stdout(_) => Some(Stream::Stdout),
            FromCell::Stderr(_) => Some(Stream::Stderr),
            _ => None,
        };
        if let Some(stream) = stream {
            return runs.output(header.run, stream, payload).map_err(Death::Broken);
        }
        match frame {
            FromCell::Ready(facts) => match ready.take() {
                Some(ready) => {
                    ready.send(Ok(*facts)).ok();
                    Ok(())
                }
                None => Err(Death::Broken("it said twice that it was ready".into())),
            },
            FromCell::Pong(nonce) => {
                pongs.send(nonce).ok();
                Ok(())
            }
            FromCell::Fatal(fatal) => Err(Death::Fatal(fatal)),
            frame => runs.deliver(header.run, frame).map_err(Death::Broken),
        }
    }
}
