//! The two directions of a FIFO channel, each with the engine's stream as its lifeline.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Frames from the cell. Ends with the FIFO channel or the engine's stream, whichever ends first.
pub(crate) struct Reader<R> {
    pub(crate) fifo_channel: R,
    pub(crate) lifeline: Box<dyn AsyncRead + Send + Unpin>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Reader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let read @ Poll::Ready(_) = Pin::new(&mut self.fifo_channel).poll_read(context, buffer) {
            return read;
        }
        let mut byte = [0];
        let mut unexpected = ReadBuf::new(&mut byte);
        ready!(Pin::new(&mut self.lifeline).poll_read(context, &mut unexpected))?;
        if unexpected.filled().is_empty() {
            // The last frames may have arrived after the FIFO channel was polled.
            return match Pin::new(&mut self.fifo_channel).poll_read(context, buffer) {
                Poll::Pending => Poll::Ready(Ok(())),
                last_words @ Poll::Ready(_) => last_words,
            };
        }
        let error = "it spoke where nothing is said";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, error)))
    }
}

/// Frames to the cell. Closing it closes the engine's stream too.
pub(crate) struct Writer<W> {
    /// `None` once closed.
    pub(crate) fifo_channel: Option<W>,
    pub(crate) lifeline: Box<dyn AsyncWrite + Send + Unpin>,
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Writer<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.fifo_channel {
            Some(fifo_channel) => Pin::new(fifo_channel).poll_write(context, bytes),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    /// A pipe does not buffer writes.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.fifo_channel = None;
        Pin::new(&mut self.lifeline).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// R11: the cell notices whichever end closes first.
    #[tokio::test]
    async fn either_end_is_the_end() {
        for engine_ends in [true, false] {
            let ((mut in_cell, fifo_channel), (engine, lifeline)) = (duplex(8), duplex(8));
            let mut reader = Reader { fifo_channel, lifeline: Box::new(lifeline) };
            in_cell.write_all(b"word").await.unwrap();
            let mut word = [0; 4];
            reader.read_exact(&mut word).await.unwrap();
            assert_eq!(&word, b"word");
            let kept = if engine_ends {
                drop(engine);
                in_cell
            } else {
                drop(in_cell);
                engine
            };
            assert_eq!(reader.read(&mut word).await.unwrap(), 0);
            drop(kept);
        }
    }

    /// F10
    #[tokio::test]
    async fn what_comes_on_the_lifeline_is_a_breach() {
        let ((_in_cell, fifo_channel), (mut engine, lifeline)) = (duplex(8), duplex(8));
        let mut reader = Reader { fifo_channel, lifeline: Box::new(lifeline) };
        engine.write_all(b"x").await.unwrap();
        assert_eq!(reader.read_u8().await.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[tokio::test]
    async fn closing_it_closes_both() {
        let ((mut in_cell, fifo_channel), (mut engine, lifeline)) = (duplex(8), duplex(8));
        let mut writer = Writer { fifo_channel: Some(fifo_channel), lifeline: Box::new(lifeline) };
        writer.write_all(b"word").await.unwrap();
        writer.shutdown().await.unwrap();
        let mut heard = Vec::new();
        in_cell.read_to_end(&mut heard).await.unwrap();
        assert_eq!((heard.as_slice(), engine.read(&mut [0]).await.unwrap()), (b"word".as_slice(), 0));
        assert!(writer.write_all(b"x").await.is_err());
    }
}
