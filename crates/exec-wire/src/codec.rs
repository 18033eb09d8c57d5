//! Reading and writing the primitive values of a payload, little-endian, with every length checked.

use crate::WireError;

pub(crate) type Result<T> = std::result::Result<T, WireError>;

/// A value with a fixed place in a payload.
pub(crate) trait Field: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn take(input: &mut Input<'_>) -> Result<Self>;
}

/// The unread rest of a payload.
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Self {
        Self(payload)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(WireError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn take<T: Field>(&mut self) -> Result<T> {
        T::take(self)
    }

    /// Succeeds only when every byte was read.
    pub(crate) fn finish(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(WireError::TrailingBytes(self.0.len())) }
    }

    fn remaining(&self) -> usize {
        self.0.len()
    }
}

/// Decodes a payload that is exactly one value.
pub(crate) fn whole<T: Field>(payload: &[u8]) -> Result<T> {
    let mut input = Input::new(payload);
    let value = input.take()?;
    input.finish()?;
    Ok(value)
}

macro_rules! integers {
    ($($int:ty),+) => {$(
        impl Field for $int {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn take(input: &mut Input<'_>) -> Result<Self> {
                let bytes = input.bytes(size_of::<$int>())?;
                bytes.try_into().map(<$int>::from_le_bytes).map_err(|_| WireError::Truncated)
            }
        }
    )+};
}
integers!(u8, u16, u32, u64, i32);

impl Field for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }
    fn take(input: &mut Input<'_>) -> Result<Self> {
        match input.take::<u8>()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(WireError::BadValue("flag")),
        }
    }
}

/// Byte strings travel as length and bytes. Not `Vec<u8> as Vec<T>`: paths and arguments are bytes, not UTF-8.
impl Field for Vec<u8> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self);
    }
    fn take(input: &mut Input<'_>) -> Result<Self> {
        let len = input.take::<u32>()? as usize;
        input.bytes(len).map(<[u8]>::to_vec)
    }
}

impl Field for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn take(input: &mut Input<'_>) -> Result<Self> {
        Self::from_utf8(input.take()?).map_err(|_| WireError::BadValue("text"))
    }
}

impl<T: Field> Field for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn take(input: &mut Input<'_>) -> Result<Self> {
        if input.take::<bool>()? { input.take().map(Some) } else { Ok(None) }
    }
}

/// Lists of any type but bytes; `Vec<u8>` keeps its compact form.
pub(crate) fn put_list<T: Field>(list: &[T], out: &mut Vec<u8>) {
    (list.len() as u32).put(out);
    for item in list {
        item.put(out);
    }
}

/// Every item takes at least one byte, so a count beyond the remaining bytes is refused before allocating.
pub(crate) fn take_list<T: Field>(input: &mut Input<'_>) -> Result<Vec<T>> {
    let count = input.take::<u32>()? as usize;
    if count > input.remaining() {
        return Err(WireError::Truncated);
    }
    (0..count).map(|_| input.take()).collect()
}

/// An enum without data as one byte; the table is written once and read both ways.
macro_rules! byte_enum {
    ($name:ident, $field:literal, { $($variant:ident = $byte:literal),+ $(,)? }) => {
        impl $crate::codec::Field for $name {
            fn put(&self, out: &mut Vec<u8>) {
                let byte: u8 = match self { $(Self::$variant => $byte),+ };
                byte.put(out);
            }
            fn take(input: &mut $crate::codec::Input<'_>) -> $crate::codec::Result<Self> {
                match input.take::<u8>()? {
                    $($byte => Ok(Self::$variant),)+
                    _ => Err($crate::WireError::BadValue($field)),
                }
            }
        }
    };
}

/// A struct as its fields in order; `list` fields are lists of anything but bytes.
macro_rules! struct_fields {
    ($name:ident { $($field:ident),* $(,)? } lists { $($list:ident),* $(,)? }) => {
        impl $crate::codec::Field for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
                $($crate::codec::put_list(&self.$list, out);)*
            }
            fn take(input: &mut $crate::codec::Input<'_>) -> $crate::codec::Result<Self> {
                $(let $field = input.take()?;)*
                $(let $list = $crate::codec::take_list(input)?;)*
                Ok(Self { $($field,)* $($list,)* })
            }
        }
    };
}

pub(crate) use {byte_enum, struct_fields};
