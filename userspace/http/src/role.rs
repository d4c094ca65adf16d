/// What the clients of a listener may do; a later role includes the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Read. TCP on loopback gives it to every user of the host.
    Read,
    /// Change something too. The Unix socket gives it to those whom its file mode lets in.
    Administer,
}
