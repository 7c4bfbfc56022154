//! What machines cost: the prices of hardware types, in whatever money the operator counts.

use std::collections::BTreeMap;

use super::image_type::HardwareType;

/// Prices of machines per hour, by hardware type and provider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceList(BTreeMap<String, HardwareType>);

impl PriceList {
    /// What a machine of this hardware type costs with this provider, if that is known.
    #[must_use]
    pub fn of_one(&self, hardware: &str, provider: &str) -> Option<f64> {
        self.0.get(hardware)?.price(provider)
    }

    /// What all these machines cost together: hardware types, each with how many there are. `None` where there is none, or where
    /// the price of one is not known: a sum that leaves machines out would be taken for all.
    #[must_use]
    pub fn of_all<'a>(
        &self,
        machines: impl IntoIterator<Item = (&'a str, usize)>,
        provider: &str,
    ) -> Option<f64> {
        let mut sum = None;
        for (hardware, count) in machines {
            // There are no clusters of so many machines that a float could not count them.
            #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53")]
            let price = self.of_one(hardware, provider)? * count as f64;
            sum = Some(sum.unwrap_or(0.0) + price);
        }
        sum
    }
}

impl FromIterator<HardwareType> for PriceList {
    fn from_iter<I: IntoIterator<Item = HardwareType>>(hardware: I) -> Self {
        Self(hardware.into_iter().map(|one| (one.base.name.clone(), one)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> PriceList {
        let hardware = serde_json::json!([
            {"name": "small", "providermap": {"lab": {"flavor": "s", "price": "0.25"}, "cloud": {"flavor": "m1", "price": "0.5"}}},
            {"name": "large", "providermap": {"lab": {"flavor": "l", "price": 2}}},
            {"name": "free", "providermap": {"lab": {"flavor": "f"}}},
            {"name": "odd", "providermap": {"lab": {"flavor": "o", "price": "much"}}},
        ]);
        serde_json::from_value::<Vec<HardwareType>>(hardware).expect("hardware types").into_iter().collect()
    }

    #[test]
    fn machines_cost_what_their_hardware_costs_or_nobody_knows() {
        type Case<'a> = (&'a [(&'a str, usize)], &'a str, Option<f64>);
        let cases: [Case<'_>; 7] = [
            (&[("small", 2), ("large", 1)], "lab", Some(2.5)),
            (&[("small", 3)], "cloud", Some(1.5)),
            (&[("small", 1), ("free", 1)], "lab", None),
            (&[("large", 1)], "cloud", None),
            (&[("odd", 1)], "lab", None),
            (&[("gone", 1)], "lab", None),
            (&[], "lab", None),
        ];
        for (machines, provider, cost) in cases {
            assert_eq!(
                prices().of_all(machines.iter().copied(), provider),
                cost,
                "{machines:?} with {provider}"
            );
        }
    }
}
