//! The grammar of macros: from the text between two percent signs to a [`Macro`] and back.

use std::fmt;

use super::error::MacroError;

/// The kind of address meant when a macro names none: the one services bind to.
const DEFAULT_ADDRESS: &str = "bind_v4";

/// All names, for messages.
const NAMES: &str = "cluster.owner, host.self, host.service.S, ip.self, ip.TYPE.self, ip.service.S, \
                     ip.TYPE.service.S, num.service.S or instance.self.service.S (S is a service, TYPE a kind of \
                     address; case matters)";

/// A macro, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Macro {
    /// Which values.
    pub basic: Basic,
    /// Format each value is put into: `$` is the value, `$$` a dollar sign.
    pub format: Option<String>,
    /// What stands between values; a comma when absent.
    pub separator: Option<String>,
}

/// Which values a macro stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basic {
    /// User id of the cluster's owner.
    Owner,
    /// A property of the node itself.
    Own(Property),
    /// A property of the nodes that carry a service.
    OfService {
        /// Which property.
        property: Property,
        /// The service.
        service: String,
        /// Only the node with this position in order of node number, from 0.
        index: Option<usize>,
    },
    /// How many nodes carry the service.
    Count(String),
    /// Position of the node among those that carry the service, from 1.
    Instance(String),
}

/// What a macro asks of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Property {
    /// Its host name.
    HostName,
    /// Its address of this kind.
    Address(String),
}

impl Basic {
    /// The service it names, if any.
    #[must_use]
    pub fn service(&self) -> Option<&str> {
        match self {
            Self::Owner | Self::Own(_) => None,
            Self::OfService { service, .. } | Self::Count(service) | Self::Instance(service) => Some(service),
        }
    }
}

/// Reads a macro, given without its percent signs.
///
/// # Errors
/// [`MacroError::Syntax`], with the place and what was expected there.
pub fn parse(text: &str) -> Result<Macro, MacroError> {
    let mut reader = Reader { text, at: 0 };
    let found = reader.whole()?;
    if reader.rest().is_empty() { Ok(found) } else { Err(reader.expected("the end of the macro")) }
}

/// A place in the text of a macro; each method reads one rule of the grammar and moves on.
struct Reader<'a> {
    text: &'a str,
    /// In bytes.
    at: usize,
}

impl<'a> Reader<'a> {
    fn whole(&mut self) -> Result<Macro, MacroError> {
        if !self.eat("join(") {
            return self.inner();
        }
        self.spaces();
        let mut found = self.inner()?;
        found.separator = Some(self.argument("a separator in quotes")?);
        Ok(found)
    }

    fn inner(&mut self) -> Result<Macro, MacroError> {
        if !self.eat("map(") {
            return Ok(Macro { basic: self.basic()?, format: None, separator: None });
        }
        self.spaces();
        let basic = self.basic()?;
        let format = self.argument("a format in quotes")?;
        Ok(Macro { basic, format: Some(format), separator: None })
    }

    /// The second argument of a function and its closing parenthesis.
    fn argument(&mut self, what: &str) -> Result<String, MacroError> {
        self.spaces();
        if !self.eat(",") {
            return Err(self.expected(&format!("a comma and {what}")));
        }
        self.spaces();
        let literal = self.literal(what)?;
        self.spaces();
        if self.eat(")") { Ok(literal) } else { Err(self.expected("')'")) }
    }

    fn basic(&mut self) -> Result<Basic, MacroError> {
        let start = self.at;
        let length = self.rest().find(|c: char| !is_name_character(c)).unwrap_or(self.rest().len());
        let name = &self.rest()[..length];
        let mut basic = named(name).map_err(|expected| self.expected(&expected))?;
        self.at = start + length;
        if self.rest().starts_with('[') {
            let Basic::OfService { index, .. } = &mut basic else {
                return Err(self.expected(&format!("no index: {name} has one value")));
            };
            *index = Some(self.index()?);
        }
        Ok(basic)
    }

    fn index(&mut self) -> Result<usize, MacroError> {
        self.eat("[");
        let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let index = self.rest()[..length]
            .parse()
            .map_err(|_| self.expected("the position of a node, in digits, from 0"))?;
        self.at += length;
        if self.eat("]") { Ok(index) } else { Err(self.expected("']'")) }
    }

    fn literal(&mut self, what: &str) -> Result<String, MacroError> {
        let quote = self.rest().chars().next().filter(|c| is_quote(*c));
        let Some(quote) = quote else { return Err(self.expected(what)) };
        let body = &self.rest()[1..];
        let Some(length) = body.find(quote) else {
            self.at = self.text.len();
            return Err(self.expected(&format!("a closing {quote}")));
        };
        self.at += length + 2;
        Ok(body[..length].replace("%%", "%"))
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn spaces(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn expected(&self, what: &str) -> MacroError {
        MacroError::Syntax {
            path: String::new(),
            text: self.text.to_owned(),
            position: self.text[..self.at].chars().count() + 1,
            expected: what.to_owned(),
        }
    }
}

/// Whether a name may hold `c`.
const fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Whether `c` opens and closes a literal.
pub(super) const fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"')
}

/// What a name stands for, or what was expected in its stead.
fn named(name: &str) -> Result<Basic, String> {
    let service = |service: &str| match service {
        "" => Err(format!("the name of a service after {name}")),
        service => Ok(service.to_owned()),
    };
    match name {
        "" => return Err(NAMES.to_owned()),
        "cluster.owner" => return Ok(Basic::Owner),
        "host.self" => return Ok(Basic::Own(Property::HostName)),
        _ => {}
    }
    if let Some(rest) = name.strip_prefix("host.service.") {
        return Ok(Basic::OfService { property: Property::HostName, service: service(rest)?, index: None });
    }
    if let Some(rest) = name.strip_prefix("num.service.") {
        return service(rest).map(Basic::Count);
    }
    if let Some(rest) = name.strip_prefix("instance.self.service.") {
        return service(rest).map(Basic::Instance);
    }
    if let Some(rest) = name.strip_prefix("ip.") {
        return address(rest);
    }
    if name.starts_with("host.self.") {
        // Coopr's manual shows this form and its server refuses it.
        return Err("host.self, which takes no service".to_owned());
    }
    Err(NAMES.to_owned())
}

/// What a name stands for that begins with `ip.`: `rest` is what follows.
///
/// The form with a kind of address is tried first: `service.service.x` is kind `service` of service `x`.
fn address(rest: &str) -> Result<Basic, String> {
    let of_service = |kind: &str, service: &str| Basic::OfService {
        property: Property::Address(kind.to_owned()),
        service: service.to_owned(),
        index: None,
    };
    let own = |kind: &str| Basic::Own(Property::Address(kind.to_owned()));
    match rest.split_once('.') {
        None if rest == "self" => Ok(own(DEFAULT_ADDRESS)),
        Some((kind, tail)) if !kind.is_empty() => match (kind, tail.strip_prefix("service.")) {
            (_, Some(service)) if !service.is_empty() => Ok(of_service(kind, service)),
            ("service", _) if !tail.is_empty() => Ok(of_service(DEFAULT_ADDRESS, tail)),
            _ if tail == "self" => Ok(own(kind)),
            _ if tail.is_empty() || tail == "service." => {
                Err(format!("the name of a service after ip.{rest}"))
            }
            _ => Err(NAMES.to_owned()),
        },
        _ => Err(NAMES.to_owned()),
    }
}

impl fmt::Display for Macro {
    /// As it would be written between percent signs. A format or separator that holds both kinds of quotes has no
    /// written form; it is given as if it had.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.separator {
            Some(separator) => {
                f.write_str("join(")?;
                self.write_inner(f)?;
                write!(f, ",{})", quoted(separator))
            }
            None => self.write_inner(f),
        }
    }
}

impl Macro {
    fn write_inner(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.format {
            Some(format) => write!(f, "map({},{})", self.basic, quoted(format)),
            None => write!(f, "{}", self.basic),
        }
    }
}

fn quoted(literal: &str) -> String {
    let quote = if literal.contains('\'') { '"' } else { '\'' };
    format!("{quote}{}{quote}", literal.replace('%', "%%"))
}

impl fmt::Display for Basic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str("cluster.owner"),
            Self::Own(property) => write!(f, "{property}.self"),
            Self::OfService { property, service, index: None } => write!(f, "{property}.service.{service}"),
            Self::OfService { property, service, index: Some(index) } => {
                write!(f, "{property}.service.{service}[{index}]")
            }
            Self::Count(service) => write!(f, "num.service.{service}"),
            Self::Instance(service) => write!(f, "instance.self.service.{service}"),
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostName => f.write_str("host"),
            Self::Address(kind) => write!(f, "ip.{kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_service(kind: &str, service: &str) -> Basic {
        Basic::OfService { property: Property::Address(kind.into()), service: service.into(), index: None }
    }

    #[test]
    fn kinds_of_address_and_services_are_told_apart() {
        let own = |kind: &str| Basic::Own(Property::Address(kind.into()));
        for (text, basic) in [
            ("ip.self", own("bind_v4")),
            ("ip.access_v4.self", own("access_v4")),
            ("ip.service.a", of_service("bind_v4", "a")),
            ("ip.service.a.b", of_service("bind_v4", "a.b")),
            ("ip.service.self", of_service("bind_v4", "self")),
            ("ip.external.service.a.b", of_service("external", "a.b")),
            ("ip.self.service.a", of_service("self", "a")),
            ("ip.service.service.a", of_service("service", "a")),
        ] {
            assert_eq!(parse(text).map(|m| m.basic), Ok(basic), "{text}");
        }
    }

    #[test]
    fn faults_are_shown_where_they_are() {
        for (text, at, words) in [
            ("", 1, "cluster.owner"),
            ("port.service.a", 1, "num.service.S"),
            ("host.service.", 1, "the name of a service"),
            ("ip.service.", 1, "the name of a service"),
            ("ip.x.service.", 1, "the name of a service"),
            ("ip..self", 1, "ip.TYPE.self"),
            ("host.self.service.a", 1, "host.self, which takes no service"),
            ("host.service.a[]", 16, "digits"),
            ("host.service.a[99999999999999999999]", 16, "digits"),
            ("host.service.a[1.0]", 17, "']'"),
            ("host.self[0]", 10, "no index"),
            ("host.self x", 10, "the end"),
            ("map(host.self)", 14, "a comma and a format"),
            ("map(host.self,x)", 15, "a format in quotes"),
            ("map(host.self,'ä", 17, "a closing '"),
            ("join(host.self,''", 18, "')'"),
            ("map(join(host.self,''),'')", 5, "cluster.owner"),
        ] {
            match parse(text) {
                Err(MacroError::Syntax { position, expected, .. }) => {
                    assert_eq!(position, at, "{text}");
                    assert!(expected.contains(words), "{text}: {expected}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn spaces_are_allowed_between_the_parts_inside_parentheses() {
        let close = parse("join(map(ip.service.a[2],'$:1'),' ')");
        assert!(close.is_ok());
        assert_eq!(parse("join( map( ip.service.a[2] , '$:1' ) , ' ' )"), close);
    }
}
