//! A container's standard streams as the byte stream of a cell.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bollard::container::{AttachContainerResults, LogOutput};
use bytes::{Buf, Bytes};
use futures_util::Stream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Both directions of an attached container.
pub(crate) struct Attached {
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
}

impl From<AttachContainerResults> for Attached {
    fn from(results: AttachContainerResults) -> Self {
        let reader = Stdout { pieces: results.output, current: Bytes::new() };
        Self { reader: Box::new(reader), writer: Box::new(results.input) }
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attached")
    }
}

type Pieces = Pin<Box<dyn Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>>;

/// Standard output, reassembled from the engine's frames.
struct Stdout {
    pieces: Pieces,
    current: Bytes,
}

impl AsyncRead for Stdout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.current.is_empty() {
            match ready!(self.pieces.as_mut().poll_next(context)) {
                None => return Poll::Ready(Ok(())),
                Some(Err(error)) => return Poll::Ready(Err(io::Error::other(error))),
                Some(Ok(LogOutput::StdOut { message })) => self.current = message,
                // PID 1 never writes to standard error; this is output of the runtime.
                Some(Ok(LogOutput::StdErr { message })) => {
                    tracing::debug!(message = %String::from_utf8_lossy(&message), "standard error of a cell");
                }
                Some(Ok(LogOutput::StdIn { .. } | LogOutput::Console { .. })) => {
                    let error = "the engine sent something that is not a container's output";
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)));
                }
            }
        }
        let count = self.current.len().min(buffer.remaining());
        buffer.put_slice(&self.current[..count]);
        self.current.advance(count);
        Poll::Ready(Ok(()))
    }
}
