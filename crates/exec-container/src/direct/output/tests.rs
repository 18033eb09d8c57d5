//! Output on its way, without an engine.

use super::*;

struct Reader {
    events: mpsc::UnboundedReceiver<Event>,
    window: Window,
    last_words: oneshot::Receiver<Bytes>,
    meter: Arc<Meter>,
    task: tokio::task::JoinHandle<()>,
}

fn forward(pieces: Vec<(Stream, Bytes)>, most: Option<u64>) -> Reader {
    let pieces = pieces.into_iter().map(|(stream, message)| match stream {
        Stream::Stdout => Ok(LogOutput::StdOut { message }),
        Stream::Stderr => Ok(LogOutput::StdErr { message }),
    });
    let (sender, events) = mpsc::unbounded_channel();
    let (first_words, last_words) = FirstWords::new();
    let (meter, window) = (Arc::new(Meter::new(most)), Window::new());
    let forward = Forward {
        meter: Arc::clone(&meter),
        window: window.clone(),
        events: sender,
        first_words: Some(first_words),
    };
    let task = tokio::spawn(forward.run(Box::pin(futures_util::stream::iter(pieces))));
    Reader { events, window, last_words, meter, task }
}

async fn all(reader: &mut Reader) -> Vec<(Stream, Bytes)> {
    let mut seen = Vec::new();
    while let Some(Event::Output { stream, bytes }) = reader.events.recv().await {
        reader.window.empty(&bytes);
        seen.push((stream, bytes));
    }
    seen
}

const LAST: &[u8] = b"[FATAL tini (7)] exec x failed: No such file or directory\n";

/// R4: they are not the command's, however they are cut.
#[tokio::test]
async fn last_words_are_kept_back() {
    let (one, two) = LAST.split_at(9);
    let pieces = [one, two].map(|piece| (Stream::Stderr, Bytes::from_static(piece)));
    let mut reader = forward(pieces.into(), None);
    assert_eq!(all(&mut reader).await, []);
    assert_eq!(reader.last_words.await.unwrap(), LAST);
}

/// R3: what turns out to be the command's is all there, in order.
#[tokio::test]
async fn what_is_not_the_last_word_comes_through() {
    let said = vec![
        (Stream::Stderr, Bytes::from_static(LAST)),
        (Stream::Stdout, Bytes::from_static(b"out")),
        (Stream::Stderr, Bytes::from_static(b"[FATAL tini (")),
    ];
    let mut reader = forward(said.clone(), None);
    assert_eq!(all(&mut reader).await, said);
    assert!(reader.last_words.await.is_err());
}

/// R5: output that nobody takes stays where it is.
#[tokio::test]
async fn what_nobody_reads_is_not_held() {
    let piece = (Stream::Stdout, Bytes::from(vec![0; 32 << 10]));
    let mut reader = forward(vec![piece; 200], None);
    // On one thread it runs until it has to wait.
    tokio::task::yield_now().await;
    assert_eq!(reader.events.len(), WINDOW as usize / (32 << 10));
    assert_eq!(all(&mut reader).await.len(), 200);
    reader.task.await.unwrap();
}

/// F9: an engine that is stuck with output is let go when the container is killed, and when nobody will read.
#[tokio::test]
async fn a_closed_or_wider_window_lets_the_rest_through() {
    let piece = (Stream::Stdout, Bytes::from(vec![0; 32 << 10]));
    for let_go in [Window::close, Window::widen] {
        let reader = forward(vec![piece.clone(); 190], None);
        tokio::task::yield_now().await;
        let_go(&reader.window);
        reader.task.await.unwrap();
    }
}

/// R40: not a byte more, over both streams, and the limit itself is allowed.
#[tokio::test]
async fn the_limit_is_exact() {
    let said =
        vec![(Stream::Stdout, Bytes::from_static(b"12345")), (Stream::Stderr, Bytes::from_static(b"6789"))];
    let mut reader = forward(said.clone(), Some(9));
    assert_eq!(all(&mut reader).await, said);
    assert!(!reader.meter.is_too_much());
    let mut reader = forward(said, Some(7));
    let total: usize = all(&mut reader).await.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(total == 7 && reader.meter.is_too_much());
    reader.meter.too_much().await;
}
