package learned

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
)

// earned returns the value of a choice at a price: gain minus the cost of tokens and markers.
func earned(p *Plan, price int64, keep []bool) int64 {
	sum := p.held(keep) - int64(p.tokensOf(keep))*price
	for i, k := range keep {
		if !k && (i == 0 || keep[i-1]) {
			sum -= int64(p.marker) * price
		}
	}
	return sum
}

// TestNoChoiceIsBetter compares the result with every possible choice.
func TestNoChoiceIsBetter(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 300 {
		n := 1 + random.Intn(9)
		p := &Plan{marker: int32(random.Intn(6)), Forced: make([]bool, n)}
		for i := range n {
			p.gain, p.tokens = append(p.gain, random.Int63n(60)), append(p.tokens, 1+random.Int31n(9))
			p.Forced[i] = random.Intn(6) == 0
		}
		price := random.Int63n(12)
		keep := make([]bool, n)
		p.At(price, keep)
		for i := range n {
			require.True(t, keep[i] || !p.Forced[i], "forced lines are kept")
		}
		for bits := range 1 << n {
			other, allowed := make([]bool, n), true
			for i := range n {
				other[i] = bits>>i&1 == 1
				allowed = allowed && (other[i] || !p.Forced[i])
			}
			if allowed {
				require.GreaterOrEqual(t, earned(p, price, keep), earned(p, price, other))
			}
		}
	}
}

func TestBudgetIsALimit(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for range 200 {
		n := 1 + random.Intn(60)
		p := &Plan{marker: 6}
		for range n {
			p.gain, p.tokens = append(p.gain, random.Int63n(1<<24)), append(p.tokens, 1+random.Int31n(30))
		}
		budget := random.Intn(300)
		require.LessOrEqual(t, p.tokensOf(p.Within(budget)), budget)
	}
}

func TestBudgetIsUsedOnOneRangeRatherThanOnScatteredLines(t *testing.T) {
	p := &Plan{marker: 16, gain: make([]int64, 40), tokens: make([]int32, 40)}
	for i := range p.tokens {
		p.tokens[i], p.gain[i] = 10, 10
	}
	p.gain[20], p.gain[22] = 9000, 9000
	require.Equal(t, []int{19, 20, 21, 22}, kept(p.Within(40)))
}

func kept(keep []bool) (lines []int) {
	for i, k := range keep {
		if k {
			lines = append(lines, i)
		}
	}
	return lines
}

func TestPowersOfTwo(t *testing.T) {
	require.EqualValues(t, 4096, power(0))
	require.EqualValues(t, 8192, power(1024))
	require.EqualValues(t, 6144, power(512), "straight between whole bits")
	require.EqualValues(t, 2048, power(-1024))
	require.EqualValues(t, 1, power(-1<<30))
	require.EqualValues(t, 1<<24, power(1<<30))
}

// held returns the total gain of the kept lines.
func (p *Plan) held(keep []bool) int64 {
	sum := int64(0)
	for i, k := range keep {
		if k {
			sum += p.gain[i]
		}
	}
	return sum
}
