//! Macros: references in configuration to what is only known once machines exist.
//!
//! A macro stands between two percent signs, as in `http://%host.service.web[0]%:8080/`, and is replaced when a task
//! is handed out, as seen from the task's node.
//!
//! ```text
//! macro   = "join(" inner "," literal ")"  |  inner
//! inner   = "map(" basic "," literal ")"   |  basic
//! basic   = name [ "[" digits "]" ]
//! literal = "'" any but ' "'"   |   '"' any but " '"'
//! ```
//!
//! | name | value |
//! |---|---|
//! | `cluster.owner` | user id of the owner |
//! | `host.self`, `ip.self`, `ip.TYPE.self` | host name or address of the node itself |
//! | `host.service.S`, `ip.service.S`, `ip.TYPE.service.S` | the same of all nodes that carry service S |
//! | `num.service.S` | how many nodes carry S |
//! | `instance.self.service.S` | position of the node among those that carry S, from 1 |
//!
//! Lists are in order of node number; `[n]` takes the n-th element, from 0. `map` puts each element into a format in
//! which `$` is the element and `$$` a dollar sign. `join` sets the separator, else a comma. Without `TYPE`, an
//! address is of kind `bind_v4`. Spaces are allowed between the parts inside parentheses.
//!
//! A macro about a service that no node carries, about the place of a node that does not carry it, or about the host
//! name of a node that has none is left as written. Everything else that is wrong is an error.
//!
//! # Where Coopr differs
//! Coopr's own macros mean the same here. What it did by accident is done on purpose:
//! - `%%` is a percent sign, everywhere, also inside a literal; Coopr kept both signs.
//! - Two macros may stand side by side; Coopr took the signs between them for an escape.
//! - Only text that looks like a macro is one, so `100% of 50% x` is plain text: between its signs a macro begins with
//!   a letter, and it holds no white space unless it begins like one of the forms above.
//! - A macro that is left as written is so in any text; Coopr dropped it when another one in the text was replaced.
//! - A node that lacks what an indexed macro asks for is an error; Coopr wrote the word `null`.
//! - An index on a macro that has one value only, and an empty service name, are errors; Coopr ignored them.
//! - `ip.service.S` takes service names with dots.

mod error;
mod expand;
mod path;
mod references;
mod syntax;
mod text;
mod view;

pub use error::MacroError;
pub use expand::{expand, expand_link, expand_map, expand_tree};
pub use references::{Reference, references, validate};
pub use syntax::{Basic, Macro, Property, parse};
pub use view::ClusterView;
