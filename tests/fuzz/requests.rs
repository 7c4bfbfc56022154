//! Requests: a route, with anything for its names, its query, its headers and its body.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::bodies::body;
use crate::routes::Route;

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: String,
    /// Path and query, escaped.
    pub target: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl Request {
    /// For people.
    pub fn shown(&self) -> String {
        let headers: Vec<String> = self
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
            .collect();
        let body = String::from_utf8_lossy(&self.body);
        let body: String = body.chars().take(2_000).collect();
        format!("{} {}\n{}\n\n{body}", self.method, self.target, headers.join("\n"))
    }
}

/// As it may stand in a path or a query.
fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(byte) {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
        text
    })
}

/// What stands in a path: mostly what exists.
fn segment(names: Vec<String>) -> impl Strategy<Value = String> {
    let hard = vec![
        "0",
        "-1",
        "18446744073709551616",
        "00000001-999-999",
        "4294967296",
        "..",
        "%00",
        "%2F",
        "%",
        "%zz",
        "a%0Ab",
        "00000001-001",
        "",
        "~",
        "x.sh",
    ];
    prop_oneof![
        6 => select(names),
        2 => select(hard).prop_map(str::to_owned),
        1 => any::<String>().prop_map(|text| escaped(text.as_bytes())),
        1 => vec(any::<u8>(), 0..40).prop_map(|bytes| escaped(&bytes)),
        1 => (1_usize..3_000).prop_map(|n| "9".repeat(n)),
    ]
}

fn query() -> impl Strategy<Value = String> {
    let name = select(vec![
        "limit",
        "cursor",
        "status",
        "dryRun",
        "strict",
        "task",
        "after",
        "secrets",
        "start",
        "end",
        "groupby",
        "timeunit",
        "tenant",
        "user",
        "cluster",
        "clustertemplate",
        "nonsense",
    ]);
    let value = prop_oneof![
        select(vec![
            "true",
            "false",
            "1",
            "0",
            "-1",
            "1000",
            "1001",
            "day",
            "hour",
            "nanoseconds",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "active",
            "staged",
            "00000001-001-001",
            "00000001",
            "WyJjbHVzdGVycyIsWzEsMV1d",
            "WyJub2RlcyIseyJSZWdpc3RlcmVkIjoiYSJ9XQ",
            "",
        ])
        .prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| escaped(text.as_bytes())),
        // Not escaped as it should be.
        "[ -\"$-~]{0,20}"
            .prop_map(|text| text.replace([' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}'], "+")),
    ];
    prop_oneof![1 => Just(Vec::new()), 2 => vec((name, value), 1..4)].prop_map(|pairs| {
        let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    })
}

fn headers() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let name = select(vec![
        "accept",
        "accept-encoding",
        "content-type",
        "content-encoding",
        "if-match",
        "if-none-match",
        "idempotency-key",
        "coopr-userid",
        "coopr-tenantid",
        "authorization",
        "range",
        "expect",
        "x-forwarded-for",
        "te",
        "cookie",
    ]);
    let value = prop_oneof![
        select(vec![
            "*",
            "*/*",
            "application/json",
            "gzip",
            "deflate",
            "identity",
            "br",
            "W/\"1-2\"",
            "\"1.ab-cd\"",
            "\"\"",
            "\"",
            ",,,",
            "Bearer ",
            "Bearer x",
            "bytes=0-1",
            "100-continue",
            "k1",
            "k2",
            "gzip;q=0",
            "text/html;q=x",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        // What a header may hold.
        vec(prop_oneof![0x20_u8..0x7f, 0x80_u8..=0xff, Just(b'\t')], 0..40),
    ];
    // Most requests come as usual clients send them.
    prop_oneof![3 => Just(Vec::new()), 2 => vec((name.prop_map(str::to_owned), value), 1..4)]
}

/// A request to one of these routes, sometimes with another method.
pub fn request(routes: Vec<Route>, names: Vec<String>) -> impl Strategy<Value = Request> {
    let other = select(vec!["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"]);
    let method = proptest::option::weighted(0.1, other);
    let route = select(routes).prop_flat_map(|route| (Just(route.clone()), body(&route.path)));
    let kinds = select(vec![
        "providers",
        "hardwaretypes",
        "imagetypes",
        "services",
        "clustertemplates",
        "partialtemplates",
        "nothing",
    ]);
    let types = select(vec!["automatortypes", "providertypes"]);
    (route, method, vec(segment(names), 6), kinds, types, query(), headers()).prop_map(
        |((route, body), other, segments, kind, types, query, headers)| {
            let mut segments = segments.into_iter();
            let parts: Vec<String> = route
                .path
                .split('/')
                .map(|part| match part {
                    // The kind of entity, or of resource in a longer path.
                    "{kind}" if route.path.matches('{').count() < 4 => kind.to_owned(),
                    "{types}" => types.to_owned(),
                    part if part.starts_with('{') => segments.next().unwrap_or_default(),
                    part => part.to_owned(),
                })
                .collect();
            let method = other.map_or(route.method, str::to_owned);
            Request { method, target: format!("{}{query}", parts.join("/")), headers, body }
        },
    )
}

/// What comes in on a connection before it is known to be HTTP.
pub fn raw_heads() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        "[ -~]{0,60}",
        select(vec![
            "GET /status HTTP/1.1",
            "GET * HTTP/1.1",
            "OPTIONS * HTTP/1.1",
            "GET http://x/status HTTP/1.1",
            "CONNECT x:1 HTTP/1.1",
            "PRI * HTTP/2.0",
            "Host: x",
            "Content-Length: 5",
            "Content-Length: -1",
            "Content-Length: 99999999999999999999",
            "Transfer-Encoding: chunked",
            "Transfer-Encoding: gzip, chunked",
            "Connection: upgrade",
            "Upgrade: h2c",
            "Expect: 100-continue",
            "Host: ",
            ": x",
            "5",
            "0",
            "ffffffffffffffff",
        ])
        .prop_map(str::to_owned),
    ];
    prop_oneof![
        vec(any::<u8>(), 0..400),
        vec(line, 0..8).prop_map(|lines| format!("{}\r\n\r\n", lines.join("\r\n")).into_bytes()),
        Just(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec()),
    ]
}
