//! Garbage on the stream that carries a container's standard output.

use exec_core::ErrorKind;
use rstest::rstest;

use crate::fake::{FakeEngine, Reply};
use crate::support::{connect, eventually, failure};

/// A piece of a container's output, framed as engines do it.
fn piece(stream: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    [[stream, 0, 0, 0].as_slice(), &length, bytes].concat()
}

/// F5, F10: an error each time, never a panic, and the container is removed.
#[rstest]
#[case::not_framed(b"hello\n".to_vec(), ErrorKind::CellDied)]
#[case::terminal_escapes(b"\x1b[31mred\n".to_vec(), ErrorKind::CellDied)]
#[case::a_stream_that_is_none(piece(7, b"x\n"), ErrorKind::CellDied)]
#[case::the_highest_stream(piece(255, b"\n"), ErrorKind::CellDied)]
#[case::standard_input(piece(0, b"x"), ErrorKind::CellDied)]
#[case::another_stream_after_a_good_piece([piece(2, b"x"), piece(3, b"x\n")].concat(), ErrorKind::CellDied)]
#[case::no_frame_of_ours(piece(1, &[0xff; 64]), ErrorKind::Protocol)]
#[case::text_instead_of_frames(piece(1, b"exec format error, or what runtimes say\n"), ErrorKind::Protocol)]
#[tokio::test]
async fn nonsense(#[case] stream: Vec<u8>, #[case] kind: ErrorKind) {
    let fake = FakeEngine::new([("/attach", Reply::upgraded(&stream))]);
    let executor = connect(&fake.host()).await.unwrap();
    let error = failure(&executor).await;
    assert_eq!((error.kind(), error.backend()), (kind, Some("docker")), "{error}");
    eventually("it is removed", || !fake.requests("DELETE").is_empty()).await;
}

/// F5
#[rstest]
#[case::at_once(&[])]
#[case::inside_a_head(&[1, 0, 0])]
#[case::inside_a_piece(&[1, 0, 0, 0, 0, 0, 0, 9, 1])]
#[tokio::test]
async fn ends_early(#[case] stream: &[u8]) {
    is_given_up(Reply::upgraded(stream).and_hang_up()).await;
}

/// F5: no complete frame ever comes. Concurrent, because each time-out allows for a slow machine.
#[tokio::test]
async fn never_ends() {
    let large = Reply::upgraded(&[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1]);
    let line = Reply::upgraded(b"a line that does not end");
    let nothing = Reply::upgraded(&[]);
    tokio::join!(is_given_up(large), is_given_up(line), is_given_up(nothing));
}

async fn is_given_up(reply: Reply) {
    let fake = FakeEngine::new([("/attach", reply)]);
    let executor = connect(&fake.host()).await.unwrap();
    let error = failure(&executor).await;
    assert_eq!(error.kind(), ErrorKind::CellDied, "{error}");
    eventually("it is removed", || !fake.requests("DELETE").is_empty()).await;
}
