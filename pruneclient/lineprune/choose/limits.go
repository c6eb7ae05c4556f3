package choose

import (
	"math/big"
	"strconv"
)

// limits are a result's limits in whole lines.
type limits struct {
	minKept int // kept >= minKept
}

func limitsOf(n int, opts Options) limits {
	kept := min(n, max(opts.MinKeepLines, 0))
	if opts.LimitRatio || opts.MaxPruneRatio > 0 {
		kept = max(kept, n-MaxPruned(n, opts.MaxPruneRatio))
	}
	return limits{minKept: kept}
}

// MaxPruned returns floor(n*ratio) for a ratio in 0..1. The ratio is taken as its decimal notation: 0.29 of
// 100 lines is 29, although the nearest float64 is slightly less than 0.29.
func MaxPruned(n int, ratio float64) int {
	ratio = min(max(ratio, 0), 1)
	product, ok := new(big.Rat).SetString(strconv.FormatFloat(ratio, 'f', -1, 64))
	if !ok { // NaN
		return 0
	}
	product.Mul(product, big.NewRat(int64(n), 1))
	return int(new(big.Int).Quo(product.Num(), product.Denom()).Int64())
}
