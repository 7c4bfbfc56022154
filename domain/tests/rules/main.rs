//! Rules of templates, leases, fields, quotas and nodes, from outside: the case files.

#[cfg(test)]
mod cases;
#[cfg(test)]
mod facts;
#[cfg(test)]
mod shown;
