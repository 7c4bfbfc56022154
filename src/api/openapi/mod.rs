//! The interface described for programs: an OpenAPI 3.1 document, made from the table of operations and from the types behind
//! it.

mod shapes;

use std::sync::LazyLock;

use actix_web::HttpResponse;
use actix_web::http::Method;
use cooperage_domain::access::Rule;
use cooperage_domain::cluster::{ClusterRequest, Difference, Placed, PlanPreview, UnitState};
use cooperage_domain::entity::{
    ClusterTemplate, HardwareType, ImageType, Kind, PartialTemplate, PluginType, Provider, Service,
};
use cooperage_domain::layout::Alternative;
use cooperage_domain::provisioner::Provisioner;
use cooperage_domain::task::{TaskOrder, TaskReport};
use cooperage_domain::tenant::TenantSpec;
use cooperage_domain::worker_protocol::{
    Finished, Granted, OutputBatch, OutputTaken, TakeBatch, Taken, Unwanted, Watch,
};
use utoipa::PartialSchema;
use utoipa::ToSchema;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{Object, ObjectBuilder, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    Components, ComponentsBuilder, ContentBuilder, Info, OpenApi, OpenApiBuilder, PathsBuilder, Ref, RefOr,
    Required, ResponseBuilder, Schema, SecurityRequirement,
};

use super::operations::{self, Operation, Port};
use super::problem::Problem;
use super::routes::Routes;
use crate::metrics::history::MetricHistory;

/// The page for reading it: plain HTML without anything from elsewhere.
const READER: &str = include_str!("reader.html");

/// Routes of the description.
pub fn routes(routes: &mut Routes<'_>) {
    routes.at("/v2/openapi.json", |on| on.get(document));
    routes.at("/v2/openapi", |on| on.get(reader));
}

async fn document() -> Result<HttpResponse, Problem> {
    static TEXT: LazyLock<Result<String, String>> =
        LazyLock::new(|| describe().to_pretty_json().map_err(|fault| fault.to_string()));
    let text = TEXT.as_ref().map_err(Problem::internal)?;
    Ok(HttpResponse::Ok().content_type("application/json").body(text.as_str()))
}

async fn reader() -> HttpResponse {
    // Only what stands in the page itself runs, and it may ask this server only.
    let policy =
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'";
    HttpResponse::Ok()
        .insert_header(("Content-Security-Policy", policy))
        .content_type("text/html; charset=utf-8")
        .body(READER)
}

/// The whole description.
pub fn describe() -> OpenApi {
    let mut paths = PathsBuilder::new();
    for operation in operations::all() {
        for path in operation.paths() {
            let path = operations::shown(&path);
            let item = PathItem::new(method(&operation.method), described(operation, &path));
            paths = paths.path(place(operation.port, &path), item);
        }
    }
    let mut info = Info::new("Cooperage", env!("CARGO_PKG_VERSION"));
    info.description = Some(
        "Clusters on request. Paths under `/tasks-port` are served without that prefix at `listen.tasks`; all others at \
         `listen.user`."
            .to_owned(),
    );
    OpenApiBuilder::new().info(info).paths(paths.build()).components(Some(components())).build()
}

/// Both ports have some paths in common; one document has each once.
fn place(port: Port, path: &str) -> String {
    match port {
        Port::User => path.to_owned(),
        Port::Tasks => format!("/tasks-port{path}"),
    }
}

fn method(method: &Method) -> HttpMethod {
    match *method {
        Method::POST => HttpMethod::Post,
        Method::PUT => HttpMethod::Put,
        Method::DELETE => HttpMethod::Delete,
        _ => HttpMethod::Get,
    }
}

fn described(operation: &Operation, path: &str) -> utoipa::openapi::path::Operation {
    let names: Vec<&str> = names(path).collect();
    let kind = kind_of(path);
    let mut built = OperationBuilder::new()
        .summary(Some(operation.summary))
        .operation_id(Some(operation.id_at(path)))
        .tag(operation.rule.area.as_str());
    for name in &names {
        let schema = ObjectBuilder::new().schema_type(Type::String).build();
        built = built.parameter(
            ParameterBuilder::new().name(*name).parameter_in(ParameterIn::Path).schema(Some(schema)),
        );
    }
    for (name, meaning) in operation.query {
        let schema = ObjectBuilder::new().schema_type(Type::String).build();
        built = built.parameter(
            ParameterBuilder::new()
                .name(*name)
                .parameter_in(ParameterIn::Query)
                .required(Required::False)
                .description(Some(*meaning))
                .schema(Some(schema)),
        );
    }
    if let Some(shape) = operation.takes {
        let content = ContentBuilder::new().schema(Some(named(shape, kind))).build();
        let body = RequestBodyBuilder::new().content(content_type(shape), content);
        built = built.request_body(Some(body.build()));
    }
    built = built.response("2XX", success(operation, kind));
    for status in refusals(operation, !names.is_empty()) {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let refusal =
            ResponseBuilder::new().description(meaning(status)).content("application/problem+json", content);
        built = built.response(status.to_string(), refusal.build());
    }
    if let Some(role) = operation.rule.role {
        built = built
            .security(SecurityRequirement::new::<_, [&str; 0], &str>("token", []))
            .security(SecurityRequirement::new::<_, [&str; 0], &str>("session", []))
            .description(Some(format!("For the role `{role}`; {}.", scope(operation.rule))));
    }
    built.build()
}

fn scope(rule: Rule) -> String {
    let area = rule.area.as_str();
    if rule.writes { format!("scope `{area}`") } else { format!("scope `{area}:read`") }
}

/// What varies in a path.
fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

/// The shape of the entities at a path.
fn kind_of(path: &str) -> Option<&'static str> {
    let kind = Kind::OWNED.into_iter().find(|kind| {
        path.strip_prefix("/v2/").is_some_and(|rest| rest.split('/').next() == Some(kind.plural()))
    })?;
    Some(match kind {
        Kind::Provider => "Provider",
        Kind::HardwareType => "HardwareType",
        Kind::ImageType => "ImageType",
        Kind::Service => "Service",
        Kind::PartialTemplate => "PartialTemplate",
        _ => "ClusterTemplate",
    })
}

/// A schema by the name it has in the table of operations.
fn named(shape: &str, kind: Option<&str>) -> RefOr<Schema> {
    let text = |schema: ObjectBuilder| RefOr::T(Schema::Object(schema.schema_type(Type::String).build()));
    if let Some(of) = shape.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return RefOr::T(Schema::Array(utoipa::openapi::schema::Array::new(named(of, kind))));
    }
    match (shape, kind) {
        ("Entity", Some(kind)) => Ref::from_schema_name(kind).into(),
        ("Name" | "Text" | "Page" | "Metrics", _) => text(ObjectBuilder::new()),
        ("Bytes", _) => text(ObjectBuilder::new().content_media_type("application/octet-stream")),
        ("Config" | "Profile", _) => RefOr::T(Schema::Object(Object::new())),
        _ => Ref::from_schema_name(shape).into(),
    }
}

fn content_type(shape: &str) -> &'static str {
    match shape {
        "Bytes" => "application/octet-stream",
        "Text" => "text/plain",
        "Page" => "text/html",
        "Metrics" => "application/openmetrics-text",
        _ => "application/json",
    }
}

fn success(operation: &Operation, kind: Option<&str>) -> utoipa::openapi::Response {
    let answer = ResponseBuilder::new().description("done");
    let Some(shape) = operation.gives else { return answer.build() };
    let content = ContentBuilder::new().schema(Some(named(shape, kind))).build();
    answer.content(content_type(shape), content).build()
}

/// Statuses of refusals, in order.
fn refusals(operation: &Operation, has_names: bool) -> Vec<u16> {
    let mut statuses: Vec<u16> = operation.refuses.to_vec();
    if operation.rule.role.is_some() {
        statuses.extend([401, 403]);
    }
    if operation.takes.is_some() || !operation.query.is_empty() {
        statuses.push(400);
    }
    if has_names {
        statuses.push(404);
    }
    statuses.sort_unstable();
    statuses.dedup();
    statuses
}

fn meaning(status: u16) -> &'static str {
    match status {
        400 => "the body or a value is wrong",
        401 => "the caller is not known",
        403 => "the caller may not do this",
        404 => "there is no such thing, or none that the caller may see",
        409 => "it is there already, or not in a state for this",
        413 => "there is too much of it",
        417 => "the worker does not hold the task",
        422 => "it cannot be done: there is no layout",
        429 => "too many tries",
        _ => "refused",
    }
}

/// Puts a type's schema, and those it refers to, among the components.
fn add<T: ToSchema>(components: ComponentsBuilder) -> ComponentsBuilder {
    let mut referred = Vec::new();
    T::schemas(&mut referred);
    components.schemas_from_iter(referred).schema(T::name(), <T as PartialSchema>::schema())
}

fn components() -> Components {
    let mut all = ComponentsBuilder::new();
    macro_rules! add {
        ($($type:ty),+ $(,)?) => { $(all = add::<$type>(all);)+ };
    }
    add!(Provider, HardwareType, ImageType, Service, ClusterTemplate, PartialTemplate, PluginType);
    add!(PlanPreview, Difference, UnitState, Placed, Alternative);
    add!(ClusterRequest, TenantSpec, Provisioner, TaskOrder, TaskReport, Finished);
    add!(Granted, TakeBatch, Taken, OutputBatch, OutputTaken, Watch, Unwanted, MetricHistory);
    all = shapes::add_all(all);
    let by_name = |of: &str| {
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .additional_properties(Some(RefOr::<Schema>::Ref(Ref::from_schema_name(of))))
            .build()
    };
    let versions = ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(named("[Resource]", None)))
        .build();
    all.schema("Queues", by_name("Queue"))
        .schema("ResourcesByName", versions)
        .schema("NodePropertiesById", by_name("NodeProperties"))
        .security_scheme(
            "token",
            SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build()),
        )
        .security_scheme(
            "session",
            SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("cooperage_session"))),
        )
        .build()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::cli::golden::assert_golden;

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn it_is_as_it_was_looked_at() {
        assert_golden("src/api/openapi/golden.json", &(describe().to_pretty_json().unwrap() + "\n"));
    }

    #[test]
    fn everything_that_is_named_is_described_and_nothing_twice() {
        let document = serde_json::to_value(describe()).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        let mut named = BTreeSet::new();
        references(&document, &mut named);
        for name in named {
            let known = name.strip_prefix("#/").unwrap().split('/').fold(&document, |at, key| &at[key]);
            assert!(known.is_object(), "{name}");
        }
        let mut ids = BTreeSet::new();
        for operation in operations::all() {
            for path in operation.paths() {
                let path = operations::shown(&path);
                let described = &document["paths"][place(operation.port, &path)]
                    [operation.method.as_str().to_lowercase()];
                assert!(described.is_object(), "{path}");
                assert!(ids.insert(described["operationId"].to_string()), "{path}: {described}");
            }
        }
    }
}
