//! What a command reads, written in the order of the calls.

use bytes::Bytes;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

/// A container's standard input. Copies write to the same.
#[derive(Debug, Clone)]
pub(super) struct Writer(mpsc::UnboundedSender<Order>);

#[derive(Debug)]
enum Order {
    /// Answered when the bytes are on their way.
    Write(Bytes, oneshot::Sender<()>),
    Close,
}

impl Writer {
    /// Starts the task that writes; it ends with the input, or when it is aborted.
    pub(super) fn start(to: impl AsyncWrite + Send + Unpin + 'static) -> (Self, AbortHandle) {
        let (sender, orders) = mpsc::unbounded_channel();
        let task = tokio::spawn(write(to, orders));
        (Self(sender), task.abort_handle())
    }

    /// Returns when the bytes were taken, or will never be.
    pub(super) async fn write(&self, bytes: Bytes) {
        let (sender, taken) = oneshot::channel();
        if self.0.send(Order::Write(bytes, sender)).is_ok() {
            taken.await.ok();
        }
    }

    pub(super) fn close(&self) {
        self.0.send(Order::Close).ok();
    }
}

async fn write(mut to: impl AsyncWrite + Send + Unpin, mut orders: mpsc::UnboundedReceiver<Order>) {
    while let Some(order) = orders.recv().await {
        match order {
            Order::Close => {
                to.shutdown().await.ok();
                return;
            }
            // A command that closed its input, or ended, takes everything and reads nothing.
            Order::Write(bytes, taken) => {
                if to.write_all(&bytes).await.is_ok() {
                    to.flush().await.ok();
                }
                taken.send(()).ok();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    /// R5
    #[tokio::test]
    async fn bytes_arrive_in_order_and_then_the_end() {
        let (near, mut far) = tokio::io::duplex(4);
        let (writer, _) = Writer::start(near);
        let writing = tokio::spawn(async move {
            writer.write(Bytes::from_static(b"first ")).await;
            writer.write(Bytes::from_static(b"second")).await;
            writer.close();
            writer.write(Bytes::from_static(b"late")).await;
        });
        let mut read = String::new();
        far.read_to_string(&mut read).await.unwrap();
        writing.await.unwrap();
        assert_eq!(read, "first second");
    }

    /// R5: a write that nobody takes returns when the run is over.
    #[tokio::test]
    async fn an_aborted_writer_holds_nobody_up() {
        let (near, _far) = tokio::io::duplex(4);
        let (writer, task) = Writer::start(near);
        let writing = tokio::spawn(async move { writer.write(Bytes::from_static(b"too long")).await });
        task.abort();
        writing.await.unwrap();
    }
}
