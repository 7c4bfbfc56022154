//! A template's rules about services that go with others, as rules about those others.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::companions::Companions;
use super::reason::{Reason, ReasonKind, listed};
use crate::entity::{ClusterTemplate, Constraints, LayoutRules, ServiceConstraint};

impl Companions {
    /// The template with its rules for the hosts alone.
    ///
    /// # Errors
    /// Every rule that cannot be kept by hosts.
    pub(super) fn template<'a>(
        &self,
        template: &'a ClusterTemplate,
    ) -> Result<Cow<'a, ClusterTemplate>, Vec<Reason>> {
        if self.is_empty() {
            return Ok(Cow::Borrowed(template));
        }
        let constraints = self.translated(&template.constraints)?;
        Ok(Cow::Owned(ClusterTemplate { constraints, ..template.clone() }))
    }

    /// The rules for the hosts alone: as the template has them, and those of what goes with each. Numbers of nodes of what
    /// goes with several are left out, but for the maximum, which none of its hosts may pass.
    ///
    /// # Errors
    /// Every rule that cannot be kept by hosts.
    fn translated(&self, constraints: &Constraints) -> Result<Constraints, Vec<Reason>> {
        let mut reasons = Vec::new();
        let mut services = constraints.services.clone();
        for host in &self.hosts {
            match self.rule_of(constraints, host) {
                Ok(rule) => services.extend(rule.map(|rule| (host.clone(), rule))),
                Err(faults) => reasons.extend(faults),
            }
        }
        let rules = || constraints.layout.mustcoexist.iter().chain(&constraints.layout.cantcoexist);
        for host in self.hosts.iter().filter(|host| rules().any(|rule| !rule.is_disjoint(&self.bunch(host))))
        {
            // It has rules of its own even where they hold by themselves, so it need not be on every node.
            services.entry(host.clone()).or_default();
        }
        services.retain(|name, _| self.hosts_of(name).is_empty());
        let mut layout = LayoutRules::default();
        for rule in &constraints.layout.mustcoexist {
            match self.together(rule) {
                Ok(rule) => layout.mustcoexist.extend(rule),
                Err(fault) => reasons.push(fault),
            }
        }
        for rule in &constraints.layout.cantcoexist {
            match self.apart(rule) {
                Ok(rules) => layout.cantcoexist.extend(rules),
                Err(fault) => reasons.push(fault),
            }
        }
        if reasons.is_empty() {
            Ok(Constraints { layout, services, ..constraints.clone() })
        } else {
            Err(reasons)
        }
    }

    /// What a host asks of its nodes, for itself and for what goes with it; nothing if there are no such rules.
    fn rule_of(
        &self,
        constraints: &Constraints,
        host: &str,
    ) -> Result<Option<ServiceConstraint>, Vec<Reason>> {
        let mut all = constraints.services.get(host).cloned();
        let mut reasons = Vec::new();
        for companion in self.of(host) {
            let Some(rule) = constraints.services.get(companion) else { continue };
            let all = all.get_or_insert_default();
            for (kind, noun, field, mine, its) in [
                (
                    ReasonKind::HardwareType,
                    "hardware type",
                    "hardwaretypes",
                    &mut all.hardwaretypes,
                    &rule.hardwaretypes,
                ),
                (ReasonKind::ImageType, "image type", "imagetypes", &mut all.imagetypes, &rule.imagetypes),
            ] {
                let common = narrowed(mine, its);
                if common.is_empty() && !its.is_empty() {
                    let fault =
                        format!("no {noun} suits {host} and {companion}, which it requires on its machine");
                    let remedy = format!("allow both the same in constraints.services.*.{field}");
                    reasons.push(Reason::new(kind, fault, remedy));
                }
                *mine = common;
            }
            let limits = &mut all.quantities;
            limits.max = limits.max.min(rule.quantities.max);
            if self.hosts_of(companion).len() == 1 {
                limits.min = limits.min.max(rule.quantities.min);
            }
            if limits.min.max(1) > limits.max {
                reasons.push(Reason::new(
                    ReasonKind::Maximum,
                    format!(
                        "{host} must be on {} nodes at least, but it goes with {companion}, and both may be on {} at \
                         most",
                        limits.min.max(1),
                        limits.max
                    ),
                    format!("bring min and max of {host} and {companion} together"),
                ));
            }
        }
        if reasons.is_empty() { Ok(all) } else { Err(reasons) }
    }

    /// A rule of `mustcoexist`; nothing where it holds by itself.
    fn together(&self, rule: &BTreeSet<String>) -> Result<Option<BTreeSet<String>>, Reason> {
        if rule.iter().all(|name| self.hosts_of(name).is_empty()) {
            return Ok(Some(rule.clone()));
        }
        let all = self.all();
        let here: BTreeSet<String> = rule.intersection(&all).cloned().collect();
        let whole = |host: &String| {
            let bunch = self.bunch(host);
            here.is_subset(&bunch) || here.is_disjoint(&bunch)
        };
        if here.len() < 2 || self.hosts.iter().all(whole) {
            return Ok(None);
        }
        let mut hosts = BTreeSet::new();
        for name in &here {
            let of = self.hosts_of(name);
            if of.len() > 1 {
                return Err(Reason::new(
                    ReasonKind::MustCoexist,
                    format!(
                        "{name} goes with each of {}, so it cannot be kept together with {} (mustcoexist)",
                        listed(&of, "and"),
                        listed(here.iter().filter(|other| *other != name), "and")
                    ),
                    format!("name {} in that rule instead of {name}", listed(&of, "and")),
                ));
            }
            hosts.insert(of.first().map_or(name, |host| *host).clone());
        }
        Ok((hosts.len() > 1).then_some(hosts))
    }

    /// A rule of `cantcoexist`: for everything that goes with others, one for each of these. Nothing where not all that it
    /// names is there.
    fn apart(&self, rule: &BTreeSet<String>) -> Result<Vec<BTreeSet<String>>, Reason> {
        if rule.iter().all(|name| self.hosts_of(name).is_empty()) {
            return Ok(vec![rule.clone()]);
        }
        if !rule.is_subset(&self.all()) {
            return Ok(Vec::new());
        }
        let mut rules = vec![BTreeSet::new()];
        for name in rule {
            let hosts = self.hosts_of(name);
            let stand_ins: Vec<&String> =
                if hosts.is_empty() { vec![name] } else { hosts.into_iter().collect() };
            let with = |apart: &BTreeSet<String>| {
                let apart = apart.clone();
                stand_ins
                    .iter()
                    .map(move |name| apart.iter().chain([*name]).cloned().collect())
                    .collect::<Vec<_>>()
            };
            rules = rules.iter().flat_map(with).collect();
        }
        match rules.iter().find(|rule| rule.len() == 1).and_then(BTreeSet::first) {
            Some(host) => Err(Reason::new(
                ReasonKind::CantCoexist,
                format!(
                    "{} may not be together on a node (cantcoexist), but {host} brings all of it to its node",
                    listed(rule, "and")
                ),
                format!("change that rule, or what {host} requires on the same machine"),
            )),
            None => Ok(rules),
        }
    }
}

/// What both lists allow; an empty list allows everything.
fn narrowed(one: &BTreeSet<String>, other: &BTreeSet<String>) -> BTreeSet<String> {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => other.clone(),
        (_, true) => one.clone(),
        _ => one.intersection(other).cloned().collect(),
    }
}
