//! Macros, from outside: the case files, and properties that hold for every text and every macro.

#[cfg(test)]
#[path = "../rules/cases.rs"]
mod cases;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod properties;
