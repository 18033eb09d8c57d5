//! What a person reads, case by case.
