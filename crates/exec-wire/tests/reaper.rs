//! What the crate guarantees for the lines that a reaper reads, and for any bytes in their place.
#![expect(clippy::unwrap_used, reason = "a test that can't continue has failed")]

use std::net::SocketAddr;

use exec_wire::reaper::{Address, Directory, MAX_LINE, Name, Order, SocketPath};
use proptest::collection::vec;
use proptest::prelude::*;

fn name() -> impl Strategy<Value = Name> {
    "[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}".prop_map(|text| Name::new(text).unwrap())
}

fn path(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let rest = vec(any::<u8>().prop_filter("kept on a line", |byte| !b"\0\n".contains(byte)), 0..most);
    rest.prop_map(|rest| [b"/".as_slice(), &rest].concat())
}

fn address() -> impl Strategy<Value = Address> {
    let unix = path(106).prop_map(|path| SocketPath::new(path).unwrap());
    prop_oneof![unix.prop_map(Address::Unix), any::<SocketAddr>().prop_map(|tcp| Address::Tcp(plain(tcp)))]
}

/// Without the parts that its text omits.
fn plain(address: SocketAddr) -> SocketAddr {
    address.to_string().parse().unwrap()
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![
        address().prop_map(Order::Engine),
        path(239).prop_map(|path| Order::FifoChannels(Directory::new(path).unwrap())),
        path(239).prop_map(|path| Order::Records(Directory::new(path).unwrap())),
        path(239).prop_map(|path| Order::LogNote(Directory::new(path).unwrap())),
        Just(Order::Recheck),
        name().prop_map(Order::Watch),
        name().prop_map(Order::Made),
        name().prop_map(Order::Forget)
    ]
}

fn encoded(orders: &[Order]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for order in orders {
        order.encode(&mut bytes);
    }
    bytes
}

proptest! {
    #[test]
    fn orders_come_back_as_they_went(orders in vec(order(), 1..6)) {
        let bytes = encoded(&orders);
        let mut rest = bytes.as_slice();
        for order in &orders {
            let (decoded, after) = Order::split(rest).unwrap().unwrap();
            prop_assert_eq!(&decoded, order);
            prop_assert!(rest.len() - after.len() <= MAX_LINE);
            rest = after;
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn a_line_that_is_not_whole_is_waited_for(order in order()) {
        let bytes = encoded(&[order]);
        for end in 0..bytes.len() {
            prop_assert_eq!(Order::split(&bytes[..end]), Ok(None));
        }
    }

    #[test]
    fn any_bytes_are_refused_or_mean_exactly_themselves(
        word in prop::sample::select(vec!["", "engine unix ", "engine tcp ", "lanes ", "watch ", "made ", "forget "]),
        tail in vec(any::<u8>(), 0..40),
    ) {
        let line = [word.as_bytes(), &tail, b"\n"].concat();
        if let Ok(Some((order, rest))) = Order::split(&line) {
            let again = encoded(&[order]);
            // Addresses can be written in more than one way; everything else can't.
            if !again.starts_with(b"engine tcp ") {
                prop_assert_eq!([again.as_slice(), rest].concat(), line);
            }
        }
    }
}

#[test]
fn names_that_could_mean_something_else_in_a_path_are_refused() {
    for text in ["", ".", "..", "-a", "a/b", "a?force", "a b", "a%2f", "ä", "a\n", &"a".repeat(129)] {
        assert!(Name::new(text).is_err(), "{text:?}");
    }
    for text in ["a", "0-9_.Z", "a..b", &"a".repeat(128)] {
        assert!(Name::new(text).is_ok(), "{text:?}");
    }
}

#[test]
fn sockets_are_absolute_and_short() {
    for path in ["", "docker.sock", "/a\nb", "/a\0b", &format!("/{}", "a".repeat(107))] {
        assert!(SocketPath::new(path).is_err(), "{path:?}");
    }
    assert!(SocketPath::new("/run/user/1000/my docker.sock").is_ok());
}

#[test]
fn nonsense_is_refused() {
    let lines = [
        "\n",
        "watch\n",
        "watch \n",
        "WATCH a\n",
        "watch a b\n",
        "unwatch a\n",
        "engine http /x\n",
        "engine tcp x:1\n",
        "engine tcp 1.2.3.4\n",
    ];
    for line in lines {
        assert!(Order::split(line.as_bytes()).is_err(), "{line:?}");
    }
}

#[test]
fn a_line_without_end_is_refused_before_it_fills_memory() {
    assert_eq!(Order::split(&[b'a'; MAX_LINE - 1]), Ok(None));
    assert!(Order::split(&[b'a'; MAX_LINE]).is_err());
}
