#!/usr/bin/env python3
"""Makes vectors.json, against which tests/vectors.rs holds every formula of the crate.

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
from scipy.stats._mannwhitneyu import _MWU

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


def bootstrap(a, b, statistic, method, resamples, seed):
    """scipy's interval over our draws: sample by sample within a resample, as the crate draws them."""
    strata = [a] if b is None else [a, b]
    rng = Replayed(seed)
    draws = [[[rng.below(len(s)) for _ in s] for s in strata] for _ in range(resamples)]

    class Handed(np.random.Generator):
        def __init__(self):
            super().__init__(np.random.PCG64(0))
            self.turn = 0

        def integers(self, low, high=None, size=None, **_):
            indices = np.array([draw[self.turn] for draw in draws])
            assert indices.shape == tuple(size), (indices.shape, size)
            self.turn += 1
            return indices

    got = stats.bootstrap([np.array(s) for s in strata], statistic, n_resamples=resamples, method=method,
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
    exact = len(set(a + b)) == len(a) + len(b) and max(len(a), len(b)) <= 50
    u = stats.mannwhitneyu(y, x, method="exact" if exact else "asymptotic", alternative="two-sided")
    t = stats.ttest_ind(y, x, equal_var=False)
    ci = t.confidence_interval(LEVEL)
    all_differences = np.sort((y[None, :] - x[:, None]).ravel())
    cut = rank_sum_cut(len(a), len(b))
    out = {
        "mann_whitney": {"u": float(u.statistic), "p": float(u.pvalue), "exact": exact},
        "welch": {"t": float(t.statistic), "df": float(t.df), "p": float(t.pvalue), "low": float(ci.low), "high": float(ci.high)},
        "shift": [float(np.median(all_differences)), float(all_differences[cut - 1]), float(all_differences[-cut])],
        "percentile_ratio_of_medians": bootstrap(a, b, lambda p, q, axis: np.median(q, axis=axis) / np.median(p, axis=axis),
                                                 "percentile", 400, 7),
        "bca_difference_of_means": bootstrap(a, b, lambda p, q, axis: np.mean(q, axis=axis) - np.mean(p, axis=axis),
                                             "BCa", 400, 8),
    }
    if len(a) == len(b):
        d = y - x
        exact = len(set(np.abs(d))) == len(d) and not np.any(d == 0) and len(d) <= 50
        w = (stats.wilcoxon(d, method="exact") if exact
             else stats.wilcoxon(d, method="asymptotic", correction=True, zero_method="wilcox"))
        walsh = np.sort([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])
        cut = signed_rank_cut(len(d))
        t = stats.ttest_rel(y, x)
        ci = t.confidence_interval(LEVEL)
        out["paired"] = {
            "wilcoxon_p": float(w.pvalue), "exact": exact,
            "t": float(t.statistic), "p": float(t.pvalue), "low": float(ci.low), "high": float(ci.high),
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
        "percentile_median": bootstrap(a, None, np.median, "percentile", 500, 3),
        "bca_mean": bootstrap(a, None, np.mean, "BCa", 500, 4),
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
    x, y = cases[3]["a"], cases[3]["b"]
    one_block = stats.mannwhitneyu(y, x, method="asymptotic", use_continuity=False)
    p = [0.011, 0.04, 0.03, 0.0051, 0.9, 0.04]
    json.dump({
        "made_by": f"vectors.py with scipy {scipy.__version__}, numpy {np.__version__}, Python {platform.python_version()}",
        "level": LEVEL, "cases": cases,
        "one_block": {"a": x, "b": y, "p": float(one_block.pvalue)},
        "holm": {"p": p, "adjusted": holm(p)},
    }, sys.stdout, indent=1)
    print()


main()
