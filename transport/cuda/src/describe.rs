//! [`describe!`], and what it does not let compile.

use crate::signature::{compare, find, starts_with};
use crate::{
    Argument, Class, Function, Hand, Kind, Length, Pass, Shape, Signature, StreamArgument,
};

/// Describes how functions travel.
///
/// ```
/// use gtrace_cuda::{Class, Function, describe, signatures};
///
/// describe! {
///     /// Some functions of the driver.
///     pub const SOME: signatures::DRIVER;
///     one_way cuEventRecord(hEvent: handle(Event), hStream: handle(Stream));
///     waiting(sync) cuEventSynchronize(hEvent: handle(Event));
///     waiting cuDeviceGetName(name: out_string[len], len: value, dev: value);
/// }
/// assert_eq!(SOME[0].class, Class::OneWay);
/// assert!(SOME[1].attributes.synchronising);
/// ```
///
/// Before a name stands its class: `local`, `one_way`, `waiting`; in parentheses behind it what is written by
/// hand (`client`, `server`, `by_hand` for both), and its [`Attributes`](crate::Attributes):
/// `sync` (waits for the device), `loads_code`, `no_context`, `uses_memory`, `idle`, `creates`, `ends`, what it changes of
/// memory (`allocates`, `frees` and others) and of contexts (`destroys_context` and others).
///
/// Behind an argument stands how it travels ([`Pass`]), in brackets its length, and `?` if null is
/// allowed. Without parentheses all arguments are left to hand-written code, of a call that is `local` or `by_hand`. A
/// length is another argument (`[len]`), less a number (`[rank - 1]`), in bytes
/// (`[bytes size]`), what another argument points to (`[*count]`), or a number (`[4]`).
///
/// A one-way call with an output does not compile:
/// ```compile_fail,E0080
/// gtrace_cuda::describe! {
///     const BAD: gtrace_cuda::signatures::DRIVER;
///     one_way cuDeviceGetCount(count: out);
/// }
/// ```
/// nor a length argument that does not exist:
/// ```compile_fail,E0080
/// gtrace_cuda::describe! {
///     const BAD: gtrace_cuda::signatures::DRIVER;
///     waiting cuDeviceGetName(name: out_string[length], len: value, dev: value);
/// }
/// ```
/// nor an argument that is left out:
/// ```compile_fail,E0080
/// gtrace_cuda::describe! {
///     const BAD: gtrace_cuda::signatures::DRIVER;
///     waiting cuDeviceGetName(name: out_string[len], len: value);
/// }
/// ```
/// nor a call that leaves them to hand-written code without a mark that there is some:
/// ```compile_fail,E0080
/// gtrace_cuda::describe! {
///     const BAD: gtrace_cuda::signatures::DRIVER;
///     waiting cuDeviceGetCount;
/// }
/// ```
/// nor one without annotation:
/// ```compile_fail
/// gtrace_cuda::describe! {
///     const BAD: gtrace_cuda::signatures::DRIVER;
///     waiting cuDeviceGetCount(count);
/// }
/// ```
/// nor a pointer that would travel as a value:
/// ```compile_fail,E0080
/// gtrace_cuda::describe! {
///     const BAD: gtrace_cuda::signatures::DRIVER;
///     waiting cuDeviceGetCount(count: value);
/// }
/// ```
/// nor marks that contradict each other or the class:
/// ```compile_fail,E0080
/// gtrace_cuda::describe! {
///     const BAD: gtrace_cuda::signatures::DRIVER;
///     waiting(idle) cuDeviceGetCount(count: out);
/// }
/// ```
/// nor a stream of what uses memory that is neither its first argument nor its last:
/// ```compile_fail,E0080
/// gtrace_cuda::describe! {
///     const BAD: gtrace_cuda::signatures::DRIVER;
///     one_way(uses_memory) cuEventRecordWithFlags(
///         hEvent: handle(Event), hStream: handle(Stream), flags: value
///     );
/// }
/// ```
/// nor a function described twice, once the tables are joined:
/// ```compile_fail,E0080
/// gtrace_cuda::describe! {
///     const TWICE: gtrace_cuda::signatures::DRIVER;
///     waiting cuDeviceGetCount(count: out);
///     waiting cuDeviceGetCount(count: out);
/// }
/// const _: () = gtrace_cuda::unique(&[&[TWICE]]);
/// ```
/// The same, correct, does:
/// ```
/// gtrace_cuda::describe! {
///     const GOOD: gtrace_cuda::signatures::DRIVER;
///     waiting cuDeviceGetCount(count: out);
///     waiting cuDeviceGetName(name: out_string[len], len: value, dev: value);
/// }
/// const _: () = gtrace_cuda::unique(&[&[GOOD]]);
/// ```
#[macro_export]
macro_rules! describe {
    (
        $(#[$meta:meta])* $vis:vis const $table:ident: $signatures:expr;
        $(
            $class:ident $(($($mark:ident),+))? $name:ident $(($($arguments:tt)*))?;
        )*
    ) => {
        $(#[$meta])*
        $vis const $table: &[$crate::Function] = &[$({
            const ARGUMENTS: Option<&[$crate::Argument]> =
                $crate::describe!(@arguments $(($($arguments)*))?);
            // Errors of the compiler then say which function it is.
            #[allow(non_upper_case_globals)]
            const $name: $crate::Function = {
                let class = $crate::describe!(@class $class);
                let (hand, attributes) =
                    $crate::marked(class, &[$($($crate::describe!(@mark $mark)),+)?]);
                $crate::signed(
                    $crate::Function {
                        name: stringify!($name),
                        class,
                        hand,
                        attributes,
                        arguments: &[],
                    },
                    ARGUMENTS,
                    $signatures,
                )
            };
            $name
        }),*];
    };
    (@arguments) => { None };
    (@arguments ($(
        $argument:ident : $pass:ident $(($kind:ident))? $([$($length:tt)+])? $(? $([$never:tt])?)?
    ),* $(,)?)) => {
        Some(&[$(
            $crate::Argument {
                name: stringify!($argument),
                pass: $crate::describe!(@pass $pass $($kind)?),
                length: $crate::describe!(@length $($($length)+)?),
                nullable: false $(|| true $($never)?)?,
            }
        ),*])
    };
    (@class local) => { $crate::Class::Local };
    (@class one_way) => { $crate::Class::OneWay };
    (@class waiting) => { $crate::Class::Waiting };
    (@mark client) => { $crate::Mark::Hand($crate::Hand::Client) };
    (@mark server) => { $crate::Mark::Hand($crate::Hand::Server) };
    (@mark by_hand) => { $crate::Mark::Hand($crate::Hand::Both) };
    (@mark sync) => { $crate::Mark::Synchronising };
    (@mark loads_code) => { $crate::Mark::LoadsCode };
    (@mark no_context) => { $crate::Mark::NeedsNoContext };
    (@mark uses_memory) => { $crate::Mark::UsesMemory };
    (@mark creates) => { $crate::Mark::Creates };
    (@mark ends) => { $crate::Mark::Ends };
    (@mark idle) => { $crate::Mark::Idle };
    (@mark allocates) => { $crate::Mark::Memory($crate::MemoryChange::Allocate) };
    (@mark allocates_pitched) => { $crate::Mark::Memory($crate::MemoryChange::AllocatePitched) };
    (@mark creates_array) => { $crate::Mark::Memory($crate::MemoryChange::CreateArray) };
    (@mark creates_array_3d) => { $crate::Mark::Memory($crate::MemoryChange::CreateArray3d) };
    (@mark creates_mipmapped_array) => {
        $crate::Mark::Memory($crate::MemoryChange::CreateMipmappedArray)
    };
    (@mark frees) => { $crate::Mark::Memory($crate::MemoryChange::Free) };
    (@mark retains_primary) => { $crate::Mark::Context($crate::ContextChange::RetainPrimary) };
    (@mark destroys_context) => { $crate::Mark::Context($crate::ContextChange::Destroy) };
    (@mark resets_primary) => { $crate::Mark::Context($crate::ContextChange::ResetPrimary) };
    (@mark releases_primary) => { $crate::Mark::Context($crate::ContextChange::ReleasePrimary) };
    (@length) => { None };
    (@length $fixed:literal) => { Some($crate::Length::Fixed($fixed)) };
    (@length $argument:ident) => { Some($crate::Length::Argument(stringify!($argument))) };
    (@length $argument:ident - $less:literal) => {
        Some($crate::Length::Less(stringify!($argument), $less))
    };
    (@length bytes $argument:ident) => { Some($crate::Length::Bytes(stringify!($argument))) };
    (@length * $argument:ident) => { Some($crate::Length::Pointee(stringify!($argument))) };
    (@pass value) => { $crate::Pass::Value };
    (@pass address) => { $crate::Pass::Address };
    (@pass handle $kind:ident) => { $crate::Pass::Handle($crate::Kind::$kind) };
    (@pass destroy $kind:ident) => { $crate::Pass::Destroy($crate::Kind::$kind) };
    (@pass mint $kind:ident) => { $crate::Pass::Mint($crate::Kind::$kind) };
    (@pass known $kind:ident) => { $crate::Pass::Known($crate::Kind::$kind) };
    (@pass handles $kind:ident) => { $crate::Pass::Handles($crate::Kind::$kind) };
    (@pass out_handles $kind:ident) => { $crate::Pass::OutHandles($crate::Kind::$kind) };
    (@pass in) => { $crate::Pass::In };
    (@pass versioned) => { $crate::Pass::Versioned };
    (@pass inout) => { $crate::Pass::InOut };
    (@pass out) => { $crate::Pass::Out };
    (@pass in_string) => { $crate::Pass::InString };
    (@pass out_string) => { $crate::Pass::OutString };
    (@pass host_in) => { $crate::Pass::HostIn };
    (@pass host_out) => { $crate::Pass::HostOut };
    (@pass unsent) => { $crate::Pass::Unsent };
    (@pass special) => { $crate::Pass::Special };
}

/// `function` with these arguments, or with none that are described, if it agrees with itself and with its signature in
/// `table`; else a panic, which in a constant is a compile error.
///
/// # Panics
///
/// As said; [`describe!`] lists the reasons.
pub const fn signed(
    mut function: Function,
    arguments: Option<&'static [Argument]>,
    table: &[Signature],
) -> Function {
    let Some(signature) = find(table, function.name) else {
        panic!("the bindings declare no function of this name")
    };
    let by_hand = matches!(function.class, Class::Local) || matches!(function.hand, Hand::Both);
    function.arguments = match arguments {
        Some(arguments) if arguments.len() == signature.parameters.len() => arguments,
        Some(_) => {
            panic!("an argument is not annotated, or there is one that the signature does not have")
        }
        None if by_hand => &[],
        None => panic!("a call whose arguments are not described is `by_hand`, or `local`"),
    };
    let mut at = 0;
    while at < function.arguments.len() {
        let (argument, parameter) = (&function.arguments[at], &signature.parameters[at]);
        if compare(argument.name, parameter.name) != 0 {
            panic!("an argument has another name than in the signature")
        }
        check(argument, parameter.ty, parameter.shape);
        check_length(argument, &function);
        check_class(argument, &function);
        if matches!(function.class, Class::Waiting) && matches!(argument.pass, Pass::Mint(_)) {
            function.attributes.creates = true;
        }
        if matches!(function.class, Class::OneWay) && matches!(argument.pass, Pass::Destroy(_)) {
            function.attributes.ends = true;
        }
        if function.attributes.uses_memory && matches!(argument.pass, Pass::Handle(Kind::Stream)) {
            function.attributes.stream = Some(match at {
                0 => StreamArgument::First,
                _ if at + 1 == function.arguments.len() => StreamArgument::Last,
                _ => panic!("the stream of what uses memory is its first argument or its last"),
            });
        }
        at += 1;
    }
    if let Some(change) = function.attributes.memory {
        match function.class {
            Class::Waiting if change.takes() => function.attributes.creates = true,
            Class::OneWay if !change.takes() => function.attributes.ends = true,
            _ => {}
        }
    }
    function
}

const fn check(argument: &Argument, ty: &str, shape: Shape) {
    let pointer = matches!(shape, Shape::Pointer);
    let mutable = starts_with(ty, "*mut ");
    let fits = match argument.pass {
        Pass::Value => matches!(shape, Shape::Scalar | Shape::Aggregate),
        Pass::Address => matches!(shape, Shape::Scalar) || compare(ty, "*mut c_void") == 0,
        Pass::Handle(_) | Pass::Destroy(_) => matches!(shape, Shape::Handle | Shape::Aggregate),
        Pass::Mint(_)
        | Pass::Known(_)
        | Pass::InOut
        | Pass::Versioned
        | Pass::Out
        | Pass::OutHandles(_) => pointer && mutable,
        Pass::In | Pass::Handles(_) => pointer,
        Pass::InString => compare(ty, "*const c_char") == 0,
        Pass::OutString => compare(ty, "*mut c_char") == 0,
        Pass::HostIn => pointer,
        Pass::HostOut => pointer && mutable,
        Pass::Unsent | Pass::Special => true,
    };
    if !fits {
        panic!("an argument's annotation does not fit its type")
    }
    let can_be_null = matches!(
        argument.pass,
        Pass::Handle(_)
            | Pass::Mint(_)
            | Pass::Known(_)
            | Pass::In
            | Pass::InOut
            | Pass::Out
            | Pass::Handles(_)
            | Pass::OutHandles(_)
            | Pass::InString
            | Pass::OutString
            | Pass::Special
    );
    if argument.nullable && !can_be_null {
        panic!("an argument cannot be null and is annotated as nullable")
    }
    let void = compare(ty, "*mut c_void") == 0 || compare(ty, "*const c_void") == 0;
    let typed = matches!(argument.pass, Pass::In | Pass::InOut | Pass::Out);
    if void && typed && argument.length.is_none() {
        panic!("a pointer to void needs a length in bytes")
    }
}

const fn check_length(argument: &Argument, function: &Function) {
    let needed = matches!(
        argument.pass,
        Pass::OutString | Pass::Handles(_) | Pass::OutHandles(_) | Pass::HostIn | Pass::HostOut
    );
    let allowed = needed
        || matches!(
            argument.pass,
            Pass::In | Pass::InOut | Pass::Out | Pass::Special
        );
    match argument.length {
        None if needed => panic!("an argument's annotation needs a length"),
        None => {}
        Some(_) if !allowed => panic!("an argument has a length that means nothing"),
        Some(Length::Fixed(_)) => {}
        Some(Length::Argument(name) | Length::Less(name, _) | Length::Bytes(name)) => {
            match find_argument(function, name) {
                Some(length) if matches!(length.pass, Pass::Value) => {}
                Some(_) => panic!("a length has to be an argument passed by value"),
                None => panic!("an argument's length names an argument that does not exist"),
            }
        }
        Some(Length::Pointee(name)) => match find_argument(function, name) {
            Some(length) if matches!(length.pass, Pass::InOut) && length.length.is_none() => {}
            Some(_) => panic!("a length that is pointed to has to be an inout argument"),
            None => panic!("an argument's length names an argument that does not exist"),
        },
    }
}

const fn check_class(argument: &Argument, function: &Function) {
    if matches!(function.class, Class::OneWay) && argument.pass.comes_back() {
        panic!("a one-way call cannot have an output")
    }
    let local = matches!(function.class, Class::Local);
    if argument.pass.by_hand() && !local && !matches!(function.hand, Hand::Both) {
        panic!("an argument that travels by hand makes the call `by_hand`, or `local`")
    }
}

const fn find_argument<'a>(function: &'a Function, name: &str) -> Option<&'a Argument> {
    let mut at = 0;
    while at < function.arguments.len() {
        if compare(function.arguments[at].name, name) == 0 {
            return Some(&function.arguments[at]);
        }
        at += 1;
    }
    None
}

/// Places of the table in which [`unique`] looks ids up: over twice as many as there are functions.
const PLACES: usize = 2048;

/// That no two functions of the tables of all `libraries` have the same id, and none the id of a control frame.
///
/// # Panics
///
/// If so, which in a constant is a compile error.
pub const fn unique(libraries: &[&[&[Function]]]) {
    let mut seen = [0; PLACES];
    let mut library = 0;
    while library < libraries.len() {
        let mut table = 0;
        while table < libraries[library].len() {
            let functions = libraries[library][table];
            let mut at = 0;
            while at < functions.len() {
                enter(&mut seen, functions[at].id());
                at += 1;
            }
            table += 1;
        }
        library += 1;
    }
}

const fn enter(seen: &mut [u32; PLACES], id: u32) {
    if id < gtrace_protocol::FIRST_OPERATION {
        panic!("a function's id is that of a control frame")
    }
    let mut place = id as usize % PLACES;
    while seen[place] != 0 {
        if seen[place] == id {
            panic!("two functions have the same id, or one is described twice")
        }
        place = (place + 1) % PLACES;
    }
    seen[place] = id;
}
