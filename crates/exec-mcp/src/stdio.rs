//! One client on our standard streams. When it closes its end, or dies, everything it started is killed at once.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use exec_core::{Error, ErrorKind, Operation, Remedy, Result};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::Server;

/// Serves until the client is gone or `stop` is cancelled. Nothing is running any more when it returns.
pub async fn serve_stdio(server: Server, stop: CancellationToken) -> Result<()> {
    let (input, output) = stdio_pipes();
    let gone = stop.child_token();
    let input = Lifeline { input, gone: gone.clone() };
    let serving = serve(server.clone(), (input, output), gone.clone());
    let closing = async {
        gone.cancelled().await;
        // Do not wait for the protocol to end: it waits for answers that no client will read.
        server.toolbox().close().await
    };
    let (ended, closed) = tokio::join!(serving, closing);
    ended.and(closed)
}

async fn serve<R, W>(server: Server, streams: (R, W), gone: CancellationToken) -> Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    // However this ends, the client is gone, and its commands must end.
    let _gone = gone.clone().drop_guard();
    let running = match server.serve_with_ct(streams, gone).await {
        Ok(running) => running,
        // A client that leaves before or during the handshake is not an error.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => {
            return Err(Error::new(ErrorKind::Protocol, "serve", "the client does not speak MCP")
                .with_source(error.to_string())
                .with_remedy(Remedy::from(Operation::Help("mcp")).after("start this from an MCP client")));
        }
    };
    running
        .waiting()
        .await
        .map(drop)
        .map_err(|error| Error::new(ErrorKind::Protocol, "serve", "serving MCP failed").with_source(error))
}

/// Reads for the protocol, and signals the end of input at once.
struct Lifeline<R> {
    input: R,
    gone: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Lifeline<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.input).poll_read(context, buf);
        let ended = match &read {
            Poll::Ready(Ok(())) => buf.filled().len() == before && buf.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if ended {
            self.gone.cancel();
        }
        read
    }
}
