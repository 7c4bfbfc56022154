//! The kernel from outside: its rules one by one, whole journals in files, case files, and what holds for every cluster
//! and every sequence of commands.

#[cfg(test)]
mod abort;
#[cfg(test)]
mod add_services;
#[cfg(test)]
mod ancestry;
#[cfg(test)]
mod budget;
#[cfg(test)]
mod care;
#[cfg(test)]
#[path = "../rules/cases.rs"]
#[allow(dead_code, reason = "errors with labels occur in the case files of others")]
mod cases;
#[cfg(test)]
mod check;
#[cfg(test)]
mod companions;
#[cfg(test)]
mod configure;
#[cfg(test)]
mod create;
#[cfg(test)]
mod delete;
#[cfg(test)]
mod driver;
#[cfg(test)]
mod expiry;
#[cfg(test)]
mod failing;
#[cfg(test)]
mod family;
#[cfg(test)]
mod give_fields;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod history;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod kinds;
#[cfg(test)]
mod lifecycle;
#[cfg(test)]
mod living;
#[cfg(test)]
mod members;
#[cfg(test)]
mod nodes;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod order;
#[cfg(test)]
mod outputs;
#[cfg(test)]
mod pause;
#[cfg(test)]
mod preview;
#[cfg(test)]
mod prolong;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod provider;
#[cfg(test)]
mod rebase;
#[cfg(test)]
mod redecide;
#[cfg(test)]
mod request;
#[cfg(test)]
mod retry;
#[cfg(test)]
mod services;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod sketch;
#[cfg(test)]
mod stale;
#[cfg(test)]
mod sync_template;
#[cfg(test)]
mod values;
#[cfg(test)]
mod warn_of_expiry;
#[cfg(test)]
mod world;
