#!/usr/bin/env python3
"""Makes crates/core/tests/data/statistics.json, with which the statistics of `core` are compared.

Needs numpy, scipy and statsmodels:

    scripts/statistics-vectors.py > crates/core/tests/data/statistics.json
"""

import json
import math

import numpy as np
import statsmodels.api as sm
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

random = np.random.default_rng(6962)
LEVELS = [0.9, 0.95, 0.99]


def plain(value):
    return [plain(item) for item in value] if isinstance(value, (list, tuple, np.ndarray)) else float(value)


def wilson():
    for n in [2, 3, 5, 10, 29, 100, 1000, 100000]:
        for successes in sorted({0, 1, n // 3, n // 2, n - 1, n}):
            for level in LEVELS:
                interval = proportion_confint(successes, n, alpha=1 - level, method="wilson")
                yield {"successes": successes, "n": n, "level": level, "interval": plain(interval)}


def t():
    for n in [2, 3, 4, 10, 57, 400]:
        values = random.normal(0.6, 0.3, n)
        for level in LEVELS:
            interval = stats.t.interval(level, n - 1, loc=values.mean(), scale=stats.sem(values))
            yield {"values": plain(values), "level": level, "mean": float(values.mean()), "interval": plain(interval)}


def t_quantiles():
    for freedom in [1, 2, 3, 5, 10, 30, 100, 1000, 100000]:
        for probability in [0.025, 0.5, 0.9, 0.95, 0.975, 0.995, 0.9995]:
            yield {"probability": probability, "freedom": freedom, "point": float(stats.t.ppf(probability, freedom))}


def sandwich(values, clusters, level):
    fit = sm.OLS(values, np.ones_like(values)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    return fit, fit.conf_int(1 - level)[0]


def clustered():
    for sizes in [[2, 2], [3, 1, 4], [5] * 10, [1, 2, 3, 4, 5, 6, 7], list(random.integers(1, 9, 40))]:
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        centres = random.normal(0.5, 0.2, len(sizes))
        values = centres[clusters] + random.normal(0, 0.1, len(clusters))
        for level in LEVELS:
            fit, interval = sandwich(values, clusters, level)
            yield {
                "values": plain(values),
                "clusters": [int(cluster) for cluster in clusters],
                "level": level,
                "mean": float(fit.params[0]),
                "interval": plain(interval),
            }


def clustered_wilson():
    for sizes in [[3, 3], [2, 5, 1], [4] * 12, [10] * 5, list(random.integers(1, 6, 60))]:
        for rate in [0.3, 0.8, 1.0]:
            clusters = np.repeat(np.arange(len(sizes)), sizes)
            centres = np.ones(len(sizes)) if rate == 1.0 else random.beta(4 * rate, 4 * (1 - rate), len(sizes))
            values = (random.random(len(clusters)) < centres[clusters]).astype(float)
            n, mean, count = len(values), values.mean(), len(sizes)
            least = n**2 / sum(int(size) ** 2 for size in sizes)
            effective = least
            if 0 < mean < 1:
                fit, _ = sandwich(values, clusters, 0.95)
                variance = fit.cov_params()[0, 0]
                correction = (stats.norm.ppf(0.975) / stats.t.ppf(0.975, count - 1)) ** 2
                effective = mean * (1 - mean) / variance * correction if variance > 0 else math.inf
            effective = min(max(effective, least), n)
            interval = proportion_confint(mean * effective, effective, method="wilson")
            yield {
                "values": plain(values),
                "clusters": [int(cluster) for cluster in clusters],
                "level": 0.95,
                "mean": float(mean),
                "interval": plain(interval),
            }


def repeats():
    for n in [1, 2, 5, 10, 200]:
        for passed in sorted({0, 1, n // 2, n}):
            for k in sorted({1, 2, 5, n}):
                if passed <= n and k <= n:
                    none = stats.hypergeom.pmf(0, n, passed, k)
                    every = stats.hypergeom.pmf(k, n, passed, k)
                    yield {"n": n, "passed": passed, "k": k, "at": float(1 - none), "hat": float(every)}


def mcnemars():
    for first, second in [(0, 0), (1, 0), (5, 5), (0, 6), (1, 9), (12, 2), (30, 18), (250, 200), (1, 1000)]:
        p = 1.0 if first + second == 0 else mcnemar([[7, first], [second, 3]], exact=True).pvalue
        yield {"first": first, "second": second, "p": float(p)}


def newcombe():
    for both, first, second, neither in [(36, 12, 2, 0), (43, 0, 1, 0), (20, 5, 3, 12), (0, 4, 4, 0), (90, 1, 9, 100), (10, 0, 0, 0)]:
        n = both + first + second + neither
        p1, p2 = (both + first) / n, (both + second) / n
        l1, u1 = proportion_confint(both + first, n, method="wilson")
        l2, u2 = proportion_confint(both + second, n, method="wilson")
        margins = (both + first) * (second + neither) * (both + second) * (first + neither)
        product = both * neither - first * second
        if product > n / 2:
            product -= n / 2
        elif product >= 0:
            product = 0
        phi = product / math.sqrt(margins) if margins else 0
        low = math.sqrt((p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2)
        high = math.sqrt((u1 - p1) ** 2 - 2 * phi * (u1 - p1) * (p2 - l2) + (p2 - l2) ** 2)
        yield {"pairs": [both, first, second, neither], "difference": p1 - p2, "interval": [p1 - p2 - low, p1 - p2 + high]}


def holms():
    for plain_values in [[0.04], [0.01, 0.04, 0.03], [0.2, 0.2, 0.001, 0.9], [0.5, 0.6], plain(random.random(20) ** 3)]:
        yield {"plain": plain_values, "adjusted": plain(multipletests(plain_values, method="holm")[1])}


def percentiles():
    for n in [1, 2, 3, 10, 101, 333]:
        values = random.exponential(2, n)
        percents = [0, 5, 25, 50, 90, 95, 99, 100]
        yield {"values": plain(values), "percents": percents, "points": plain(np.percentile(values, percents))}


makers = [wilson, t, t_quantiles, clustered, clustered_wilson, repeats, mcnemars, newcombe, holms, percentiles]
print("{")
for place, maker in enumerate(makers):
    rows = ",\n".join("  " + json.dumps(row) for row in maker())
    print(f'"{maker.__name__}": [\n{rows}\n]' + ("," if place < len(makers) - 1 else ""))
print("}")
