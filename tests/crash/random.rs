//! Randomness that can be repeated.

/// Numbers drawn one after the other from a seed (SplitMix64).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// From `COOPERAGE_TEST_SEED`, or a seed of its own, which is printed: a failed test shows it.
    pub fn new() -> Self {
        let given = std::env::var("COOPERAGE_TEST_SEED").ok().map(|text| text.parse().unwrap());
        let seed = given.unwrap_or_else(|| u64::from(uuid::Uuid::new_v4().as_fields().0));
        println!("COOPERAGE_TEST_SEED={seed}");
        Self(seed)
    }

    /// From a number of another one's.
    pub fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }
}
