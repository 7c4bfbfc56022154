//! How handlers come to their routes: only here, and only to what stands in the table of operations.

use std::collections::BTreeSet;

use actix_web::http::Method;
use actix_web::{App, FromRequest, Handler, Resource, Responder, Route, web};

use super::operations::{self, Port};
use super::{task_routes, user_routes};

/// The routes of a port while they are made.
pub struct Routes<'a> {
    config: &'a mut web::ServiceConfig,
    port: Port,
    served: BTreeSet<(String, String)>,
}

/// The handlers of one path.
pub struct Place {
    resource: Resource,
    methods: Vec<Method>,
}

impl<'a> Routes<'a> {
    /// None yet.
    pub fn new(config: &'a mut web::ServiceConfig, port: Port) -> Self {
        Self { config, port, served: BTreeSet::new() }
    }

    /// Serves a path by the handlers that `place` puts there.
    pub fn at(&mut self, path: &str, place: impl FnOnce(Place) -> Place) {
        let placed = place(Place { resource: web::resource(path), methods: Vec::new() });
        self.served.extend(placed.methods.iter().map(|method| (path.to_owned(), method.to_string())));
        self.config.service(placed.resource);
    }

    /// What is served without standing in the table, and what stands there without being served.
    fn faults(&self) -> Vec<String> {
        let ruled: BTreeSet<(String, String)> = operations::all()
            .iter()
            .filter(|operation| operation.port == self.port)
            .flat_map(|it| it.paths().into_iter().map(|path| (path, it.method.to_string())))
            .collect();
        let unruled = self.served.difference(&ruled);
        let unserved = ruled.difference(&self.served);
        let unruled = unruled.map(|(path, method)| format!("{method} {path} has no rule about who may"));
        unruled.chain(unserved.map(|(path, method)| format!("{method} {path} is not served"))).collect()
    }
}

impl Place {
    fn on<F, Args>(mut self, method: Method, route: Route, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.resource = self.resource.route(route.to(handler));
        self.methods.push(method);
        self
    }

    /// Answers GET.
    pub fn get<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.on(Method::GET, web::get(), handler)
    }

    /// Answers POST.
    pub fn post<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.on(Method::POST, web::post(), handler)
    }

    /// Answers PUT.
    pub fn put<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.on(Method::PUT, web::put(), handler)
    }

    /// Answers DELETE.
    pub fn delete<F, Args>(self, handler: F) -> Self
    where
        F: Handler<Args>,
        Args: FromRequest + 'static,
        F::Output: Responder + 'static,
    {
        self.on(Method::DELETE, web::delete(), handler)
    }
}

/// What is served without a rule about who may, or has a rule and is not served. A server starts only if there is nothing.
pub fn faults() -> Vec<String> {
    let mut faults = Vec::new();
    for (port, serve) in [(Port::User, user_routes as fn(&mut Routes<'_>)), (Port::Tasks, task_routes)] {
        let _ = App::new().configure(|config| {
            let mut routes = Routes::new(config, port);
            serve(&mut routes);
            faults.extend(routes.faults());
        });
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_has_a_rule_and_every_rule_a_route() {
        assert_eq!(faults(), Vec::<String>::new());
    }

    #[test]
    fn a_route_without_a_rule_is_found() {
        let _ = App::new().configure(|config| {
            let mut routes = Routes::new(config, Port::User);
            user_routes(&mut routes);
            routes.at("/v2/backdoor", |on| on.get(|| async { "come in" }));
            assert_eq!(routes.faults(), ["GET /v2/backdoor has no rule about who may"]);
        });
    }
}
