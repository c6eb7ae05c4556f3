package replay

import (
	"math"
	"math/rand/v2"
	"slices"
)

// losing is the net, in percent of a session's bill, below which a session counts as a loss.
const losing = -0.05

func percent(x, of float64) float64 {
	if of == 0 {
		return 0
	}
	return round(100 * x / of)
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// quantile returns the value at fraction q of a sorted list.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func lost(per []float64) float64 {
	n := 0
	for _, net := range per {
		if net < losing {
			n++
		}
	}
	return percent(float64(n), float64(len(per)))
}

// interval returns the 95 % bootstrap interval of a pooled net in percent, by resampling sessions.
func interval(nets [][2]float64) [2]float64 {
	if len(nets) == 0 {
		return [2]float64{}
	}
	const draws = 1000
	random := rand.New(rand.NewPCG(7, uint64(len(nets))))
	pooled := make([]float64, draws)
	for d := range pooled {
		var net, bill float64
		for range nets {
			one := nets[random.IntN(len(nets))]
			net, bill = net+one[0], bill+one[1]
		}
		pooled[d] = percent(net, bill)
	}
	slices.Sort(pooled)
	return [2]float64{pooled[draws*25/1000], pooled[draws*975/1000]}
}
