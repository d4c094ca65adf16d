section! {
    /// What gtrace lost of a source.
    SourceDetail {
        /// The source.
        source: Option<String>,
        /// How many records are known to be lost.
        lost: Option<u64>,
        /// First lost sequence number, where records are numbered.
        first_seq: Option<u64>,
        /// Last lost sequence number.
        last_seq: Option<u64>,
        /// Why.
        reason: Option<String>,
        /// What brings it back.
        remedy: Option<String>,
    }
}
