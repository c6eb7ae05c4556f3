package existing

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program returns a read of n lines of source code, each as long as given.
func program(n, length int, letter string) Body {
	b := Body{First: 101, Mark: "\t"}
	for i := range n {
		b.Lines = append(b.Lines, fmt.Sprintf("%d %s", i, strings.Repeat(letter, length)))
	}
	return b
}

// span returns the numbers from..to.
func span(from, to int) (list []int) {
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

func TestSplitKeepsNumbersTrue(t *testing.T) {
	b := Body{Lines: strings.Split(strings.Repeat("x", 60), ""), First: 11, Mark: "\t"}
	for i := range b.Lines {
		b.Lines[i] = strconv.Itoa(i + 1)
	}
	c := noted(b, kept(60, append([]int{1}, span(30, 45)...)...), slices.Repeat([]float64{1}, 60))
	main, note := Split(b, c, "back")
	assert.Equal(t, Window{30, 45}, main)
	assert.Equal(t, "[17 of 60 lines; rest: `back --lines A-B`]\n11\t1\n...", note)
	assert.True(t, strings.HasPrefix(ClaudeRead(b, c, "back"), "40\t30\n41\t31\n"))
}

// TestTheBestWindowStaysTheResult checks that the result is the most relevant window, not the longest one, and that it
// is extended to the windows near it and to a readable size.
func TestTheBestWindowStaysTheResult(t *testing.T) {
	b := program(900, 10, "x")
	scores := make([]float64, 900)
	scores[699], scores[700] = 5, 6
	long := span(100, 300)
	assert.Equal(t, Window{695, 706}, noted(b, kept(900, append(long, 700, 701)...), scores).Main)
	assert.Equal(t, Window{690, 701}, noted(b, kept(900, append(long, 690, 700, 701)...), scores).Main, "with the window near it")
	scores[899] = 9
	assert.Equal(t, Window{889, 900}, noted(b, kept(900, append(long, 900)...), scores).Main, "at the end of the file")
	c := noted(b, kept(900, append(append(span(100, 120), span(880, 888)...), 900)...), scores)
	assert.Equal(t, Window{880, 900}, c.Main, "the lines between two near windows belong to it")
}

// TestTheNoteFits checks that a note has at most the length that the client shows whole, that it has the most relevant
// windows, and that it says by their lines which ones it has no room for.
func TestTheNoteFits(t *testing.T) {
	way := "'" + strings.Repeat("/a long path", 50) + "' recover prn_3ddf8b97"
	for _, letter := range []string{"x", "é", "\U0001F600"} {
		b := program(2000, 90/len(utf16.Encode([]rune(letter))), letter)
		scores := make([]float64, 2000)
		var lines []int
		for i := range 20 { // windows of 20 lines; the more relevant, the later in the file
			lines = append(lines, span(100*i+1, 100*i+20)...)
			scores[100*i+5] = float64(i)
		}
		c := noted(b, kept(2000, lines...), scores)
		main, note := Split(b, c, way)
		assert.Equal(t, Window{1901, 1920}, main)
		length := len(utf16.Encode([]rune(note)))
		assert.LessOrEqual(t, length, MaxNote)
		assert.Greater(t, length, MaxNote-noteFrame-2100, "no window of 2,000 units more would fit")
		assert.True(t, NoteFits(note))
		assert.Contains(t, note, "\n1901\t1800 ", "the second best window")
		assert.NotContains(t, note, "\n101\t0 ", "the least relevant one")
		assert.Contains(t, note, "too long for this note: lines 101-120, 201-220,")
		assert.NotContains(t, c.Kept, 1, "what is not shown does not count as kept")
	}
}

// TestWhatIsShownAndWhatIsLeft checks for random texts that every line that the pruner kept is either shown with its
// true number or named as left out, and that the header counts the lines that are shown.
func TestWhatIsShownAndWhatIsLeft(t *testing.T) {
	number := regexp.MustCompile(`(?m)^(\d+)\t(\d+) `)
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		b := program(200+random.IntN(3000), 5+random.IntN(80), "y")
		var lines []int
		for n := 1; n < len(b.Lines); n += 1 + random.IntN(60) {
			for range random.IntN(90) {
				if n <= len(b.Lines) {
					lines = append(lines, n)
					n++
				}
			}
		}
		scores := make([]float64, len(b.Lines))
		for i := range scores {
			scores[i] = 4 * random.NormFloat64()
		}
		if len(lines) == 0 || len(lines) == len(b.Lines) {
			continue
		}
		c := noted(b, kept(len(b.Lines), lines...), scores)
		_, note := Split(b, c, "back")
		require.True(t, NoteFits(note))
		text := ClaudeRead(b, c, "back")
		shown := map[int]bool{}
		for _, m := range number.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(m[1])
			index, _ := strconv.Atoi(m[2])
			require.Equal(t, n, b.First+index, "seed %d", seed)
			require.False(t, shown[n], "seed %d: line %d stands there twice", seed, n)
			shown[n] = true
		}
		require.Len(t, shown, len(c.Kept), "seed %d", seed)
		require.Contains(t, text, fmt.Sprintf("[%d of %d lines;", len(c.Kept), len(b.Lines)))
		left := map[int]bool{}
		for _, w := range c.Left {
			for n := w.From; n <= w.To; n++ {
				left[n] = true
			}
		}
		for _, n := range lines {
			require.True(t, shown[b.First+n-1] != left[n], "seed %d: line %d is either shown or left", seed, n)
		}
	}
}
