//! Foreign files to and from canonical records.
