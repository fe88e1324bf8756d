//! The numbers that a runner keeps for each call site that allocated.
//!
//! # How it works
//! A trial replays the call sites of one class among 100,000, and there are hundreds of trials. So an account is made with a
//! site's first allocation, and a table of four bytes a site leads to it.

use slablab_trace::NONE;

use crate::metrics::locality::Steps;
use crate::metrics::result::SiteUnder;

/// The costs of a call site's objects under this allocator.
#[derive(Debug, Clone, Default)]
pub(super) struct SiteAccount {
    pub(super) waste: u64,
    pub(super) waste_peak: u64,
    pub(super) bytes_alloc: u64,
    pub(super) steps: Steps,
    /// Operations on the slow path, if they are counted.
    pub(super) slow_operations: u64,
}

/// The accounts of all call sites.
#[derive(Debug)]
pub(super) struct SiteAccounts {
    /// By call site: the place of its account, [`NONE`] before its first allocation
    places: Vec<u32>,
    accounts: Vec<SiteAccount>,
}

impl SiteAccounts {
    pub(super) fn new(sites: usize) -> Self {
        Self { places: vec![NONE; sites], accounts: Vec::new() }
    }

    /// Returns the number of call sites.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the place of a call site's account, made if need be.
    #[inline]
    pub(super) fn place(&mut self, site: usize) -> usize {
        match self.places[site] {
            NONE => self.make(site),
            place => place as usize,
        }
    }

    #[cold]
    fn make(&mut self, site: usize) -> usize {
        self.places[site] = self.accounts.len() as u32;
        self.accounts.push(SiteAccount::default());
        self.accounts.len() - 1
    }

    /// Returns the account in a place.
    #[inline]
    pub(super) fn at(&mut self, place: usize) -> &mut SiteAccount {
        &mut self.accounts[place]
    }

    /// Returns what was kept; `under` makes it of an account and its place.
    pub(super) fn finish(self, under: impl Fn(usize, &SiteAccount) -> SiteUnder) -> UnderBySite {
        let none = under(usize::MAX, &SiteAccount::default());
        let known = self.accounts.iter().enumerate().map(|(place, account)| under(place, account));
        UnderBySite { places: self.places, under: known.collect(), none }
    }
}

/// What call sites' objects cost under an allocator.
#[derive(Debug, Clone)]
pub(crate) struct UnderBySite {
    places: Vec<u32>,
    under: Vec<SiteUnder>,
    /// That of a site without allocations
    none: SiteUnder,
}

impl UnderBySite {
    /// Returns that of a call site, by its place in [`Tally::sites`](crate::metrics::tally::Tally::sites).
    pub(crate) fn of(&self, site: usize) -> SiteUnder {
        let place = self.places.get(site).copied().unwrap_or(NONE);
        self.under.get(place as usize).copied().unwrap_or(self.none)
    }
}
