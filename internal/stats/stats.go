// Package stats holds the estimators that figures, spreads and comparisons are
// made of. The functions are pure and take their input in any unit, so long as
// it is one unit.
//
// No bad input passes silently. Functions that return only a number return NaN
// for it (an empty set, or a NaN or infinity anywhere); functions that need a
// positive figure return an error that says what was wrong. CheckFigure is the
// test to put before anything that stores or compares a figure.
//
// Products that meet a sum are written float64(x*y) + z, so that arm64 does not
// fuse what amd64 does not (DESIGN.md, Dependencies).
package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
)

// ErrNotFigure is wrapped by every error that refuses a figure.
var ErrNotFigure = errors.New("not a usable figure")

// CheckFigure refuses what no measured figure can be: NaN, an infinity, zero
// and a negative number. The error wraps ErrNotFigure and says which it was.
func CheckFigure(x float64) error {
	switch {
	case math.IsNaN(x):
		return fmt.Errorf("%w: NaN", ErrNotFigure)
	case math.IsInf(x, 0):
		return fmt.Errorf("%w: infinite", ErrNotFigure)
	case x == 0:
		return fmt.Errorf("%w: zero", ErrNotFigure)
	case x < 0:
		return fmt.Errorf("%w: negative (%g)", ErrNotFigure, x)
	}
	return nil
}

// Mean is the arithmetic mean Σx/n. NaN for an empty set or a value that is
// not finite.
func Mean(xs []float64) float64 {
	if !finite(xs) {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// StdDev is the sample standard deviation sqrt(Σ(x−mean)²/(n−1)), in two
// passes. NaN for fewer than two values (one value has no spread, which is not
// a spread of zero) or a value that is not finite.
func StdDev(xs []float64) float64 {
	if len(xs) < 2 || !finite(xs) {
		return math.NaN()
	}
	mean := Mean(xs)
	sum := 0.0
	for _, x := range xs {
		d := x - mean
		sum += float64(d * d)
	}
	return math.Sqrt(sum / float64(len(xs)-1))
}

// Quantile is the q-quantile, 0 ≤ q ≤ 1, of values sorted in ascending order:
// type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The
// American Statistician 50 (1996), which R and NumPy use by default. With
// h = (n−1)q it is x[⌊h⌋] + (h−⌊h⌋)(x[⌊h⌋+1] − x[⌊h⌋]), counting from 0.
//
// NaN for an empty set, a value that is not finite, values out of order, or a
// q outside 0…1.
func Quantile(sorted []float64, q float64) float64 {
	if !finite(sorted) || !slices.IsSorted(sorted) || !(q >= 0 && q <= 1) {
		return math.NaN()
	}
	h := float64(len(sorted)-1) * q
	i := int(math.Floor(h))
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((h-float64(i))*(sorted[i+1]-sorted[i]))
}

// Median is the middle value in order, or the mean of the two middle ones:
// Quantile at 0.5. The input need not be sorted and is not changed. NaN for an
// empty set or a value that is not finite.
func Median(xs []float64) float64 {
	sorted := slices.Clone(xs)
	sort.Float64s(sorted)
	return Quantile(sorted, 0.5)
}

// LnRatio is ln(head/base): positive when head is slower. Both must be figures
// in one unit; an error wraps ErrNotFigure and says which side was refused.
func LnRatio(base, head float64) (float64, error) {
	if err := CheckFigure(base); err != nil {
		return 0, fmt.Errorf("base: %w", err)
	}
	if err := CheckFigure(head); err != nil {
		return 0, fmt.Errorf("head: %w", err)
	}
	r := head / base
	if err := CheckFigure(r); err != nil { // overflow or underflow of the quotient
		return 0, fmt.Errorf("head/base: %w", err)
	}
	return math.Log(r), nil
}

// GeoMean is the geometric mean exp(Σ ln x / n). An error for an empty set or
// any value that CheckFigure refuses, with its position.
func GeoMean(xs []float64) (float64, error) {
	if len(xs) == 0 {
		return 0, fmt.Errorf("geometric mean of nothing: %w", ErrNotFigure)
	}
	sum := 0.0
	for i, x := range xs {
		if err := CheckFigure(x); err != nil {
			return 0, fmt.Errorf("geometric mean, value %d: %w", i, err)
		}
		sum += math.Log(x)
	}
	return math.Exp(sum / float64(len(xs))), nil
}

// GeoMeanRatio is the geometric mean of head/base over sets with equal keys.
// Sets that do not match are an error that names a key without a partner: a
// mean over different sets says nothing (cases.md, Figures).
func GeoMeanRatio(base, head map[string]float64) (float64, error) {
	keys := make([]string, 0, len(base))
	for k := range base {
		if _, ok := head[k]; !ok {
			return 0, fmt.Errorf("geometric mean over sets that do not match: %q has no head figure", k)
		}
		keys = append(keys, k)
	}
	for k := range head {
		if _, ok := base[k]; !ok {
			return 0, fmt.Errorf("geometric mean over sets that do not match: %q has no base figure", k)
		}
	}
	sort.Strings(keys) // one order of summation, so one result
	sum := 0.0
	for _, k := range keys {
		ln, err := LnRatio(base[k], head[k])
		if err != nil {
			return 0, fmt.Errorf("geometric mean, %s: %w", k, err)
		}
		sum += ln
	}
	if len(keys) == 0 {
		return 0, fmt.Errorf("geometric mean of nothing: %w", ErrNotFigure)
	}
	return math.Exp(sum / float64(len(keys))), nil
}

// finite says whether xs has values and all of them are finite.
func finite(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return len(xs) > 0
}
