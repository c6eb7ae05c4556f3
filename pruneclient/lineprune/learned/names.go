package learned

var sourceFeatures = [perSource]string{"words", "rarest", "share", "close", "around", "block", "head"}

var textFeatures = [perText]string{"terms", "found", "peak"}

var lineFeatures = [...]string{"rule", "rule-close", "rule-rank", "indent", "what", "what-above", "what-below", "tokens", "block-lines",
	"from-head", "head-what", "position", "from-start", "from-end", "copies", "number-near", "number-age", "place-age", "file-age", "said",
	"edited", "shown", "near-said", "near-edited", "shown-around", "path-hits", "path-first", "path-test", "paths", "kind", "tool", "verb",
	"lines", "all-tokens", "events", "since-edit", "asked-length", "ranged", "words", "new-words",
	"new-identifiers", "new-around"}

// Names returns the name of every feature, in the order of a row.
func Names() []string {
	var names []string
	for _, s := range sourceNames {
		for _, f := range sourceFeatures {
			names = append(names, s+": "+f)
		}
	}
	for _, s := range sourceNames {
		for _, f := range textFeatures {
			names = append(names, s+": "+f)
		}
	}
	return append(names, lineFeatures[:]...)
}

// Width is the number of features in a row.
const Width = features

// Table returns the features of every line as consecutive rows of Width values.
func Table(in *Input) []int32 { return tableOf(in).rows }
