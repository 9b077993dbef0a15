package stats

import (
	"fmt"
	"math"
	"slices"
)

// Up to these sizes of each sample MannWhitney is exact, without and with
// ties: the limits of benchstat (golang.org/x/perf/internal/stats, utest.go).
const (
	mannWhitneyExact     = 50
	mannWhitneyExactTies = 25
)

// MannWhitney tests whether xs and ys come from one distribution, against one
// tending to be larger. It decides nothing here; it is one of the "usual ways"
// that docs/method.md compares the rule with, as benchstat does it. u is the
// number of pairs in which x > y, ties counting half; p is two-sided.
//
// Mann and Whitney, "On a Test of Whether one of Two Random Variables is
// Stochastically Larger than the Other", Annals of Mathematical Statistics 18
// (1947). Exact for up to 50 figures a sample, or 25 with ties, by their
// recursion, with ties as Klotz, "The Wilcoxon, Ties, and the
// Computer", JASA 61 (1966); the smaller tail doubled, at most 1. Else the normal
// approximation with corrections for ties and continuity: Lehmann,
// Nonparametrics, 1.3 and 1.4. Equal figures only are p = 1, as benchstat prints.
//
// benchstat doubles the lower tail of the smaller u. That is the same but with
// ties in samples of unequal size, where the distribution is not symmetric and
// that tail can be 0.
//
// An error for an empty sample or a figure that is not finite.
func MannWhitney(xs, ys []float64) (u, p float64, err error) {
	if !finite(xs) || !finite(ys) {
		return 0, 0, fmt.Errorf("Mann-Whitney: %d and %d figures: %w", len(xs), len(ys), ErrNotFigure)
	}
	for _, x := range xs {
		for _, y := range ys {
			switch {
			case x > y:
				u++
			case x == y:
				u += 0.5
			}
		}
	}
	groups := tieGroups(slices.Concat(xs, ys))
	n1, n2 := len(xs), len(ys)
	limit := mannWhitneyExact
	if len(groups) < n1+n2 {
		limit = mannWhitneyExactTies
	}
	if n1 <= limit && n2 <= limit {
		return u, mannWhitneyP(u, n1, groups), nil
	}
	return u, mannWhitneyNormalP(u, n1, n2, groups), nil
}

// tieGroups are the numbers of equal values, in ascending order of value.
func tieGroups(all []float64) []int {
	slices.Sort(all)
	var groups []int
	for i, v := range all {
		if i == 0 || v != all[i-1] {
			groups = append(groups, 0)
		}
		groups[len(groups)-1]++
	}
	return groups
}

// mannWhitneyP is the exact two-sided p of u, every choice of n1 of the ranked
// figures being equally likely.
func mannWhitneyP(u float64, n1 int, groups []int) float64 {
	counts := mannWhitneyCounts(n1, groups)
	at := int(2 * u) // u is a multiple of a half
	var below, above, total float64
	for s, c := range counts {
		total += c
		if s <= at {
			below += c
		}
		if s >= at {
			above += c
		}
	}
	return math.Min(1, 2*math.Min(below, above)/total)
}

// mannWhitneyCounts is the number of ways to choose n1 xs of all figures so
// that 2u is s, for each s. It goes through the groups of equal figures from
// the least up. Where y ys are below a group of t, taking j of it as xs adds
// j·y + j(t−j)/2 to u, in C(t, j) ways; for groups of one that is Mann and
// Whitney's recursion N(n, m, u) = N(n−1, m, u−m) + N(n, m−1, u).
func mannWhitneyCounts(n1 int, groups []int) []float64 {
	n := 0
	for _, t := range groups {
		n += t
	}
	n2 := n - n1
	counts := make([][]float64, n1+1) // by xs chosen so far, then by 2u
	for k := range counts {
		counts[k] = make([]float64, 2*k*n2+1)
	}
	counts[0][0] = 1
	seen := 0
	for _, t := range groups {
		// Downwards, so that a group is not chosen from twice.
		for k := min(seen, n1); k >= 0; k-- {
			y := seen - k
			if y > n2 {
				break
			}
			ways := 1.0
			for j := 1; j <= t && k+j <= n1; j++ {
				ways = ways * float64(t-j+1) / float64(j)
				if y+t-j > n2 {
					continue
				}
				add := j * (2*y + t - j)
				for s, c := range counts[k][:2*k*y+1] {
					if c != 0 {
						counts[k+j][s+add] += float64(ways * c)
					}
				}
			}
		}
		seen += t
	}
	return counts[n1]
}

// mannWhitneyNormalP is the two-sided p by the normal approximation:
// z = (|u − n1·n2/2| − ½)/σ, σ² = n1·n2/12·(N + 1 − Σ(t³−t)/(N(N−1))).
func mannWhitneyNormalP(u float64, n1, n2 int, groups []int) float64 {
	ties := 0.0
	for _, t := range groups {
		ft := float64(t)
		ties += float64(ft*ft*ft) - ft
	}
	pairs, n := float64(n1)*float64(n2), float64(n1+n2)
	variance := pairs / 12 * (n + 1 - ties/float64(n*(n-1)))
	distance := math.Abs(u-pairs/2) - 0.5
	if distance <= 0 || variance <= 0 {
		return 1
	}
	return math.Erfc(distance / math.Sqrt(2*variance))
}
