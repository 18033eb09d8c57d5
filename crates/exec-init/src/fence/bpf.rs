//! Compiles a table of rules to the kernel's filter program.
//!
//! Pure: a table in, instructions out. Calls that the table does not name are allowed; calls of another
//! architecture, or of x86's 32-bit-pointer variant, report "no such call".

/// The answer of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// `ENOSYS`, as if the kernel had no such call: programs fall back to an older one.
    NoSuchCall,
    /// `EPERM`.
    NotPermitted,
}

/// When a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Always.
    Called,
    /// One of these bits is set in the argument.
    AnyBit {
        /// Which argument, from 0.
        argument: u32,
        /// The bits.
        bits: u32,
    },
    /// The argument is one of these.
    OneOf {
        /// Which argument, from 0.
        argument: u32,
        /// The values.
        values: &'static [u32],
    },
}

/// One forbidden call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) call: libc::c_long,
    pub(super) when: When,
    pub(super) answer: Answer,
}

/// An instruction, as the kernel takes it.
pub(super) type Instruction = libc::sock_filter;

/// Offsets in the kernel's `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
const IF_ANY_BIT: u16 = (libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K) as u16;
const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JA) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

/// Compiles the filter for one architecture. `foreign_from` is the first call number of another calling
/// convention.
pub(super) fn compile(architecture: u32, foreign_from: Option<u32>, rules: &[Rule]) -> Vec<Instruction> {
    let missing = ret(Answer::NoSuchCall);
    let mut program =
        vec![op(LOAD, ARCHITECTURE), branch(IF_EQUAL, architecture, 1, 0), missing, op(LOAD, NUMBER)];
    if let Some(first) = foreign_from {
        program.extend([branch(IF_AT_LEAST, first, 0, 1), missing]);
    }
    let mut sorted = rules.to_vec();
    sorted.sort_by_key(|rule| rule.call);
    program.extend(tree(&sorted));
    program
}

/// A binary search over the rules, sorted by number: the kernel runs the filter for every number when it is
/// installed, and older kernels for every call.
fn tree(rules: &[Rule]) -> Vec<Instruction> {
    let (low, high) = rules.split_at(rules.len() / 2);
    if let (true, Some(first)) = (rules.len() > FEW, high.first()) {
        let (low, high) = (tree(low), tree(high));
        // An explicit jump, because a branch reaches at most 255 instructions.
        let mut both = vec![branch(IF_AT_LEAST, first.call as u32, 0, 1), op(JUMP, low.len() as u32)];
        both.extend(low);
        both.extend(high);
        return both;
    }
    let mut leaf = Vec::new();
    for rule in rules {
        let body = body(rule);
        // Skips the rule if the number differs; a matching rule always returns.
        leaf.push(branch(IF_EQUAL, rule.call as u32, 0, body.len() as u8));
        leaf.extend(body);
    }
    leaf.push(op(RETURN, libc::SECCOMP_RET_ALLOW));
    leaf
}

/// The most rules to compare one by one.
const FEW: usize = 3;

/// Checks only the lower half of an argument: the kernel's types for all of these are 32 bits wide.
fn body(rule: &Rule) -> Vec<Instruction> {
    let load = |argument: u32| op(LOAD, ARGUMENTS + 8 * argument + LOW_HALF);
    let (deny, allow) = (ret(rule.answer), op(RETURN, libc::SECCOMP_RET_ALLOW));
    match rule.when {
        When::Called => vec![deny],
        When::AnyBit { argument, bits } => vec![load(argument), branch(IF_ANY_BIT, bits, 0, 1), deny, allow],
        When::OneOf { argument, values } => {
            let mut body = vec![load(argument)];
            for (index, value) in values.iter().enumerate() {
                let to_deny = values.len() - index;
                body.push(branch(IF_EQUAL, *value, to_deny as u8, 0));
            }
            body.extend([allow, deny]);
            body
        }
    }
}

#[cfg(target_endian = "little")]
const LOW_HALF: u32 = 0;
#[cfg(target_endian = "big")]
const LOW_HALF: u32 = 4;

fn ret(answer: Answer) -> Instruction {
    let errno = match answer {
        Answer::NoSuchCall => libc::ENOSYS,
        Answer::NotPermitted => libc::EPERM,
    };
    op(RETURN, libc::SECCOMP_RET_ERRNO | errno as u32)
}

const fn op(code: u16, k: u32) -> Instruction {
    Instruction { code, jt: 0, jf: 0, k }
}

const fn branch(code: u16, k: u32, jt: u8, jf: u8) -> Instruction {
    Instruction { code, jt, jf, k }
}
