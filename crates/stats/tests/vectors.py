#!/usr/bin/env python3
"""Makes vectors.json, against which tests/vectors.rs holds every formula of the crate.

Ties: p by counting every assignment of the mean ranks (scipy's permutation_test, and integer counts beyond 16 values).
Run once, by hand:  pip install numpy scipy && ./vectors.py > vectors.json
The file names the versions that made it. Samples are rounded to six decimals, so that both sides read the same.
"""
import itertools
import json
import platform
import sys

import numpy as np
import scipy
from scipy import stats
from scipy.stats._mannwhitneyu import _MWU  # the exact distribution without ties

LEVEL = 0.95


def samples():
    rng = np.random.default_rng(20261121)
    r = lambda x: [round(float(v), 6) for v in x]
    yield "normal 31 and 31", r(rng.normal(1, 0.03, 31)), r(rng.normal(1.02, 0.03, 31))
    yield "small, odd and even", r(rng.normal(5, 1, 5)), r(rng.normal(6, 2, 8))
    yield "skewed 40 and 25", r(rng.lognormal(0, 0.5, 40)), r(rng.lognormal(0.3, 0.5, 25))
    yield "ties", r(np.round(rng.normal(10, 2, 30))), r(np.round(rng.normal(11, 2, 30)))
    yield "large 80 and 120", r(rng.normal(100, 9, 80)), r(rng.normal(101, 4, 120))
    yield "about zero", r(rng.normal(0, 1, 12)), r(rng.normal(0.5, 1, 12))
    yield "far apart", r(rng.normal(1, 0.01, 9)), r(rng.normal(2, 0.01, 9))
    for n in range(3, 9):
        yield f"ties, {n} and {n}", r(np.round(rng.normal(4, 1, n))), r(np.round(rng.normal(6, 1, n)))
    yield "ties, 4 and 9", r(np.round(rng.normal(4, 2, 4))), r(np.round(rng.normal(6, 2, 9)))
    yield "all equal within a side", [1.0] * 3, [2.0] * 3
    yield "equal differences", [1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0, 6.0]


def every_assignment(pooled, n):
    """P of the rank sum of n of the pooled values, by counting every choice of them: no formula, ties as they are."""
    ranks = stats.rankdata(pooled)
    chosen = [sum(ranks[list(c)]) for c in itertools.combinations(range(len(ranks)), n)]
    return np.array(chosen)


def exact_rank_sum(a, b):
    """The two-sided p with ties: scipy's permutation test where there are few ways, else of the integer statistic."""
    ranks = stats.rankdata(a + b)
    observed = sum(ranks[len(a):])
    if len(a) + len(b) <= 16:
        sums = every_assignment(a + b, len(b))
        got = stats.permutation_test((np.array(b), np.array(a)), lambda x, y: sum(stats.rankdata(list(x) + list(y))[:len(x)]),
                                     permutation_type="independent", n_resamples=np.inf, alternative="two-sided").pvalue
        counted = 2 * min(np.mean(sums <= observed + 1e-9), np.mean(sums >= observed - 1e-9))
        assert abs(min(1, counted) - got) < 1e-12, (counted, got)
        return float(got)
    # Counts as Python's integers: nothing is rounded.
    ways = [{0: 1}] + [{} for _ in b]
    for rank in (int(2 * r) for r in ranks):
        for j in range(len(b), 0, -1):
            for total, count in ways[j - 1].items():
                ways[j][total + rank] = ways[j].get(total + rank, 0) + count
    all_ways = sum(ways[len(b)].values())
    low = sum(c for t, c in ways[len(b)].items() if t <= 2 * observed)
    high = sum(c for t, c in ways[len(b)].items() if t >= 2 * observed)
    return min(1.0, 2 * min(low, high) / all_ways)


def exact_signed_rank(d):
    """The two-sided p with ties, pairs without a difference left out: over all signs of the mean ranks."""
    d = d[d != 0]
    ways = {0: 1}
    for rank in (int(2 * r) for r in stats.rankdata(np.abs(d))):
        ways = {t: ways.get(t, 0) + ways.get(t - rank, 0) for t in {*ways, *(t + rank for t in ways)}}
    observed = int(2 * sum(stats.rankdata(np.abs(d))[d > 0]))
    low = sum(c for t, c in ways.items() if t <= observed)
    high = sum(c for t, c in ways.items() if t >= observed)
    counted = min(1.0, 2 * min(low, high) / 2 ** len(d))
    if len(d) <= 12:
        statistic = lambda x: sum(stats.rankdata(np.abs(x))[np.array(x) > 0])
        got = stats.permutation_test((d,), statistic, permutation_type="samples", n_resamples=np.inf).pvalue
        assert abs(counted - got) < 1e-12, (counted, got)
    return counted


class Replayed(np.random.Generator):
    """Gives scipy's bootstrap the draws of our SplitMix64, so that both resample alike."""

    def __init__(self, seed):
        super().__init__(np.random.PCG64(0))
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def below(self, bound):
        while True:
            product = self.next() * bound
            if product % 2**64 >= (2**64 - bound) % bound:
                return product >> 64


def bootstrap(a, statistic, resamples, seed):
    """scipy's percentile interval over our draws."""
    rng = Replayed(seed)
    draws = np.array([[rng.below(len(a)) for _ in a] for _ in range(resamples)])

    class Handed(np.random.Generator):
        def __init__(self):
            super().__init__(np.random.PCG64(0))

        def integers(self, low, high=None, size=None, **_):
            assert draws.shape == tuple(size), (draws.shape, size)
            return draws

    got = stats.bootstrap([np.array(a)], statistic, n_resamples=resamples, method="percentile",
                          confidence_level=LEVEL, vectorized=True, rng=Handed()).confidence_interval
    return [float(got.low), float(got.high)]


def rank_sum_cut(m, n):
    """The rank of the interval's lower end: R's qwilcox, or the normal approximation of Hollander and Wolfe."""
    if max(m, n) > 50:
        z = stats.norm.ppf((1 + LEVEL) / 2)
        return max(1, int(np.floor(m * n / 2 - z * np.sqrt(m * n * (m + n + 1) / 12))))
    distribution = _MWU(m, n)
    return next(max(1, c) for c in itertools.count() if distribution.cdf(np.array([c]))[0] >= (1 - LEVEL) / 2)


def signed_rank_cut(n):
    if n > 50:
        z = stats.norm.ppf((1 + LEVEL) / 2)
        return max(1, int(np.floor(n * (n + 1) / 4 - z * np.sqrt(n * (n + 1) * (2 * n + 1) / 24))))
    ways = np.array([1.0])
    for rank in range(1, n + 1):
        ways = np.convolve(ways, [0.5] + [0.0] * (rank - 1) + [0.5])
    return max(1, int(np.searchsorted(np.cumsum(ways) * (1 + 64 * 2.0**-52), (1 - LEVEL) / 2)))


def two(a, b):
    x, y = np.array(a), np.array(b)
    exact = max(len(a), len(b)) <= 50
    ties = len(set(a + b)) < len(a) + len(b)
    u = stats.mannwhitneyu(y, x, method="exact" if exact else "asymptotic", alternative="two-sided")
    p = exact_rank_sum(a, b) if exact and ties else float(u.pvalue)
    t = stats.ttest_ind(y, x, equal_var=False)
    ci = t.confidence_interval(LEVEL)
    all_differences = np.sort((y[None, :] - x[:, None]).ravel())
    cut = rank_sum_cut(len(a), len(b))
    out = {
        "mann_whitney": {"u": float(u.statistic), "p": p, "exact": exact},
        "welch": None if np.var(a) + np.var(b) == 0 else {
            "t": float(t.statistic), "df": float(t.df), "p": float(t.pvalue), "low": float(ci.low), "high": float(ci.high)},
        "shift": [float(np.median(all_differences)), float(all_differences[cut - 1]), float(all_differences[-cut])],
    }
    if len(a) == len(b):
        d = y - x
        d = np.array([q - p for p, q in zip(a, b)])
        exact = np.count_nonzero(d) <= 50
        w = (exact_signed_rank(d) if exact
             else stats.wilcoxon(d, method="asymptotic", correction=True, zero_method="wilcox").pvalue)
        walsh = np.sort([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])
        cut = signed_rank_cut(len(d))
        t = stats.ttest_rel(y, x)
        ci = t.confidence_interval(LEVEL)
        out["paired"] = {
            "wilcoxon_p": float(w), "exact": bool(exact),
            "t": None if np.var(d) == 0 else {
                "t": float(t.statistic), "p": float(t.pvalue), "low": float(ci.low), "high": float(ci.high)},
            "shift": [float(np.median(walsh)), float(walsh[cut - 1]), float(walsh[-cut])],
        }
    return out


def one(a):
    x = np.array(a)
    return {
        "mean": float(np.mean(x)), "stddev": float(np.std(x, ddof=1)), "median": float(np.median(x)),
        "q1": float(np.quantile(x, 0.25)), "q3": float(np.quantile(x, 0.75)),
        "q07": float(np.quantile(x, 0.07)),
        "mad": float(stats.median_abs_deviation(x, scale="normal")),
        "percentile_median": bootstrap(a, np.median, 500, 3),
    }


def holm(p):
    """Holm's correction, from its definition: the least alpha at which the step-down procedure rejects."""
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate((len(p) - np.arange(len(p))) * np.array(p)[order])
    out = np.empty(len(p))
    out[order] = np.minimum(steps, 1)
    return [float(v) for v in out]


def main():
    cases = [{"name": name, "a": a, "b": b, "one": one(a), "two": two(a, b)} for name, a, b in samples()]
    p = [0.011, 0.04, 0.03, 0.0051, 0.9, 0.04]
    json.dump({
        "made_by": f"vectors.py with scipy {scipy.__version__}, numpy {np.__version__}, Python {platform.python_version()}",
        "level": LEVEL, "cases": cases,
        "holm": {"p": p, "adjusted": holm(p)},
    }, sys.stdout, indent=1)
    print()


main()
