package tokens

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// Prices are relative to the price of one fresh input token of the same model.
type Prices struct {
	Provider string `json:"vendor"` // "" after a change by the user

	Input      float64 `json:"input"`
	CacheWrite float64 `json:"write"`
	CacheHour  float64 `json:"hour"` // a cache write that lasts an hour
	CacheRead  float64 `json:"read"`
	Output     float64 `json:"output"`
}

// Band is what a prompt that is longer than a bound costs: each of its prices times a factor.
type Band struct {
	Above  int     `json:"above"`  // tokens of the prompt
	Input  float64 `json:"input"`  // fresh, written and read
	Output float64 `json:"output"` // of the answer
}

// Model is what is known of the models with a word in their names, from a version on. A new model is a row of models.json.
type Model struct {
	Word string `json:"word"`
	From string `json:"from,omitempty"` // "": all versions
	Prices
	Dollars json.RawMessage `json:"dollars,omitempty"` // list price of a million fresh input tokens, by a word of the name; "": any other
	Chars   float64         `json:"chars"`             // characters per token of tool results
	Least   int             `json:"least,omitempty"`   // tokens of a prompt, below which a cache with marks keeps nothing
	Thinks  bool            `json:"thinks,omitempty"`  // the API counts the thinking of earlier turns in each prompt

	// Binds: from some models on, Anthropic's API binds each block of thinking to everything that stands before it in the request:
	// system prompt, tools and messages. Once one of these changes, the API refuses the block, or drops it if the request asks for
	// that. Allowed are appending, moving cache_control, and leaving out thinking, the oldest first.
	Binds  *bool  `json:"binds,omitempty"`
	Bands  []Band `json:"bands,omitempty"`
	Source string `json:"source"`
	Date   string `json:"date"`
}

// The lifetimes of caches: Anthropic's lasts for the first or the second, as the client asks; others keep a prompt for the first at
// least, and OpenAI's for a day if the client asks.
const (
	CacheLife = 5 * time.Minute
	CacheHour = time.Hour
	CacheDay  = 24 * time.Hour
)

// careful is the word of the row for models that no row names.
const careful = "claude"

// classicChars is how many characters a token has that Claude counts.
const classicChars = 2.85

//go:embed models.json
var embedded []byte

var table = func() *atomic.Pointer[[]Model] {
	rows, err := parse(embedded)
	if err != nil {
		panic(err)
	}
	t := &atomic.Pointer[[]Model]{}
	t.Store(&rows)
	return t
}()

// Models returns all rows: those of the user's file, then those that are embedded.
func Models() []Model { return slices.Clone(*table.Load()) }

// UseFile puts the rows of a user's file before those that are known. A word of the file replaces all rows with that word.
func UseFile(data []byte) error {
	rows, err := parse(data)
	if err != nil {
		return err
	}
	own := rows
	for _, m := range *table.Load() {
		if !slices.ContainsFunc(own, func(r Model) bool { return r.Word == m.Word }) {
			rows = append(rows, m)
		}
	}
	table.Store(&rows)
	return nil
}

// parse reads rows and checks them.
func parse(data []byte) ([]Model, error) {
	var rows []Model
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&rows); err != nil {
		return nil, fmt.Errorf("rows of models: %w", err)
	}
	for _, m := range rows {
		if _, known := version(strings.Split(m.From, ".")); m.Word == "" || m.From != "" && !known {
			return nil, fmt.Errorf("the row of %q from %q: a row has a word of the model's name, and a version such as 5.5", m.Word, m.From)
		}
		for _, x := range []float64{m.Input, m.CacheWrite, m.CacheHour, m.CacheRead, m.Output, m.Chars} {
			if x <= 0 || x > 1000 {
				return nil, fmt.Errorf("the row of %q has no input, write, hour, read, output or chars, or one that is not between 0 and 1000", m.Word)
			}
		}
	}
	return rows, nil
}

// ModelOf returns the row of a model. ok is false if no row names its family: then the row is
// that of "claude", which has the dearest writes and reads.
func ModelOf(name string) (m Model, ok bool) {
	parts := words(name)
	rows := *table.Load()
	for at, part := range parts {
		found, is := Model{}, false
		asked, known := versionAt(parts, at)
		for _, row := range rows {
			from, _ := version(strings.Split(row.From, "."))
			if part == row.Word || row.Provider != "Anthropic" && strings.HasPrefix(part, row.Word) {
				if !is || !known || slices.Compare(asked[:], from[:]) >= 0 {
					found, is = row, true
				}
			}
		}
		switch {
		case is && found.Word != careful:
			return found, true
		case is:
			ok = len(parts) == 1
		}
	}
	at := slices.IndexFunc(rows, func(r Model) bool { return r.Word == careful })
	return rows[at], ok
}

// Dollars returns the list price of a million fresh input tokens of a model, 0 if it is not known.
func Dollars(name string) float64 {
	m, _ := ModelOf(name)
	prices := map[string]float64{}
	if len(m.Dollars) == 0 || json.Unmarshal(m.Dollars, &prices) != nil {
		return 0
	}
	for _, word := range words(name) {
		if price, ok := prices[word]; ok {
			return price
		}
	}
	return prices[""]
}

// words returns the words and numbers of a model's name.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// At returns the prices of a request with so many tokens.
func (m Model) At(prompt int) Prices {
	p := m.Prices
	for _, b := range m.Bands {
		if prompt > b.Above {
			p.Input, p.CacheWrite, p.CacheHour, p.CacheRead, p.Output = p.Input*b.Input, p.CacheWrite*b.Input, p.CacheHour*b.Input, p.CacheRead*b.Input, p.Output*b.Output
		}
	}
	return p
}

// lookBack is how many blocks before a mark Anthropic's cache looks for an entry.
const lookBack = 20

// LookBack returns how many blocks before the end of a prompt the cache finds an entry, where it keeps those at marks only, as that
// does which has two lifetimes at two prices; 0: it finds any common beginning.
func (p Prices) LookBack() int {
	if p.CacheHour > p.CacheWrite {
		return lookBack
	}
	return 0
}

// Density returns how many tokens the model has for one that Claude counts.
func (m Model) Density() float64 { return classicChars / m.Chars }

// BindsThinking reports whether a model's API binds thinking to what stands before it. Of a model that is not known it returns
// what the caller knows of all models of that API.
func BindsThinking(model string, unknown bool) bool {
	m, ok := ModelOf(model)
	if !ok || m.Binds == nil {
		return unknown
	}
	return *m.Binds
}

// versionAt returns the version of the model whose family is a part of its name: behind it, as in claude-opus-4-8-20260301, or
// before it, as in claude-3-5-sonnet-20241022.
func versionAt(parts []string, at int) (v [2]int, known bool) {
	if v, known = version(parts[at+1:]); known {
		return v, true
	}
	return version(leading(parts[:at]))
}

// version returns the version that some parts begin with, with its minor number.
func version(parts []string) (v [2]int, known bool) {
	for i := range min(2, len(parts)) {
		n, err := strconv.Atoi(strings.TrimSuffix(parts[i], "o")) // gpt-4o
		if err != nil || len(parts[i]) > 2 {                      // a date
			break
		}
		v[i], known = n, true
	}
	return v, known
}

// leading returns the numbers at the end of a list.
func leading(parts []string) []string {
	from := len(parts)
	for from > 0 && len(parts[from-1]) <= 2 && strings.Trim(parts[from-1], "0123456789") == "" {
		from--
	}
	return parts[from:]
}

func (p Prices) String() string {
	text := fmt.Sprintf("input %g, cache write %g, cache read %g, output %g", p.Input, p.CacheWrite, p.CacheRead, p.Output)
	if p.CacheHour != p.CacheWrite {
		text += fmt.Sprintf(", write for an hour %g", p.CacheHour)
	}
	if p.Provider != "" {
		text = p.Provider + ": " + text
	}
	return text
}
