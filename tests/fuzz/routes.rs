//! The routes there are: those of the book's table, which `tests/tidy` keeps equal to the program's.

const PAGE: &str = include_str!("../../docs/src/rest.md");
/// From this on the routes are those of the port for provisioners.
const TASKS: &str = "On the port for provisioners";

/// One of the two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Port {
    User,
    Tasks,
}

/// A method and a path with names in braces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub method: String,
    pub path: String,
}

/// Those of a port.
pub fn routes(port: Port) -> Vec<Route> {
    let (user, tasks) = PAGE.split_once(TASKS).unwrap();
    let page = match port {
        Port::User => user,
        Port::Tasks => tasks,
    };
    page.lines().filter_map(route).collect()
}

/// Of a row such as "| `GET` `/v2/clusters/{id}` | ... |".
fn route(line: &str) -> Option<Route> {
    let cell = line.strip_prefix('|')?.split('|').next()?;
    let mut parts = cell.split('`').filter(|part| !part.trim().is_empty());
    let (method, path) = (parts.next()?, parts.next()?);
    path.starts_with('/').then(|| Route { method: method.to_owned(), path: path.to_owned() })
}
