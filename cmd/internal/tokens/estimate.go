package tokens

// An estimate looks at windows of this size, evenly spread.
const windowBytes = 64

// Estimate is about the number of tokens, from half a kilobyte of the text: it
// takes half a microsecond. On code, prose, data and logs half of all texts come
// out within 7 %, nine of ten within 16 %, and sums over many texts within 5 %.
func Estimate(text string) int { return estimate(text, 8) }

// EstimateWell looks at four kilobytes and takes up to five microseconds.
// Half of all texts come out within 5 %, nine of ten within 12 %; what leaving out
// a part of a text saves, within 7 % and 14 %.
func EstimateWell(text string) int { return estimate(text, 64) }

func estimate(text string, windows int) int {
	if text == "" {
		return 0
	}
	if len(text) <= windows*windowBytes {
		return clamp(weigh(text), len(text))
	}
	sum := 0
	for i := range windows {
		at := len(text)*(2*i+1)/(2*windows) - windowBytes/2
		sum += weigh(text[at : at+windowBytes])
	}
	return clamp(int(float64(sum)*float64(len(text))/float64(windows*windowBytes)), len(text))
}

func clamp(weight, bytes int) int { return min(max(weight>>weightBits, bytes/16, 1), bytes) }

// weigh adds up, byte by byte, what each adds to the tokens given its class and
// that of the byte before it.
func weigh(text string) int {
	sum, before := int32(0), lineEnd
	for i := 0; i < len(text); i++ {
		c := classes[text[i]]
		sum += weights[before&7][c&7]
		before = c
	}
	return int(sum)
}

// weightBits is the number of bits behind the binary point of a weight.
const weightBits = 12

// weights are the solution of a least squares fit (ridge 1, relative errors) over
// 2,450 files of code, prose, data and logs. Both indexes are classes.
var weights = [8][8]int32{
	{1054, 2525, 3728, 4170, 2474, 559, 4726},
	{4772, 632, 648, 5498, 1322, 6819, 1051},
	{2263, 3707, 204, 2907, 2207, 4395, 4515},
	{3850, 5749, 6230, 1100, 2526, 7141, 32},
	{2251, 557, 1249, 5416, -21, 4371, 3055},
	{2690, 5767, 3785, 6967, 5518, -2132, 61},
	{4235, 1920, 4610, 429, 2851, -833, 2529},
}
