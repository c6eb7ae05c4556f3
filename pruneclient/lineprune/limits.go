package lineprune

import "math"

// limits are a result's bounds in whole lines.
type limits struct {
	minKept int // kept >= minKept
}

// limitsOf turns ratio and minimum into a number of lines. The ratio is taken as
// the decimal it was written as (0.29 of 100 is 29), in integers, so that no
// rounding of a product decides.
func limitsOf(n int, opts Options) limits {
	kept := min(n, max(opts.MinKeepLines, 0))
	if opts.LimitRatio || opts.MaxPruneRatio > 0 {
		kept = max(kept, n-MaxPruned(n, opts.MaxPruneRatio))
	}
	return limits{minKept: kept}
}

// MaxPruned is floor(n*ratio) for a ratio within 0..1.
func MaxPruned(n int, ratio float64) int {
	const unit = 1_000_000_000
	parts := int64(math.Round(min(max(ratio, 0), 1) * unit))
	if float64(parts)/unit > ratio { // never above what was asked for
		if float64(n)*ratio+1e-9 < float64(int64(n)*parts/unit) {
			parts--
		}
	}
	return int(int64(n) * parts / unit)
}
