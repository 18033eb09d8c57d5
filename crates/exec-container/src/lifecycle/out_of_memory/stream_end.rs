//! Reports the end of a stream.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// A stream whose end is reported once.
pub(crate) struct StreamEnd<R> {
    inner: R,
    tell: Option<Box<dyn FnOnce() + Send>>,
}

impl<R> StreamEnd<R> {
    pub(crate) fn new(inner: R, tell: impl FnOnce() + Send + 'static) -> Self {
        Self { inner, tell: Some(Box::new(tell)) }
    }
}

impl<R> fmt::Debug for StreamEnd<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamEnd")
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for StreamEnd<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.inner).poll_read(context, buffer));
        let has_ended = read.is_err() || (buffer.filled().len() == before && buffer.remaining() > 0);
        if has_ended && let Some(tell) = self.tell.take() {
            tell();
        }
        Poll::Ready(read)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn the_end_is_told_once_and_nothing_else_is() {
        let reported = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&reported);
        let mut stream = StreamEnd::new(&b"abc"[..], move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let mut byte = [0];
        for _ in 0..3 {
            stream.read_exact(&mut byte).await.unwrap();
        }
        assert_eq!(reported.load(Ordering::Relaxed), 0);
        for _ in 0..2 {
            assert_eq!(stream.read(&mut byte).await.unwrap(), 0);
        }
        assert_eq!(reported.load(Ordering::Relaxed), 1);
    }
}
