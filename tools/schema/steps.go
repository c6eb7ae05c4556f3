package schema

import (
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps is the number of subschemas that a value is compared with. References can make a short schema ask for 2^30 of them.
const maxSteps = 50_000

// steps counts the subschemas that a value is compared with, for one value at a time.
type steps struct {
	mu   sync.Mutex
	left int
}

// errTooManySteps ends a comparison, which has no other way to end early.
type errTooManySteps struct{}

// in makes a compiler count.
func (s *steps) in(c *jsonschema.Compiler) {
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL:     "mem:///steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return s, nil },
	})
	c.AssertVocabs()
}

// Validate implements jsonschema.SchemaExt.
func (s *steps) Validate(*jsonschema.ValidatorContext, any) {
	if s.left--; s.left < 0 {
		panic(errTooManySteps{})
	}
}

// bound runs a comparison, which may be given up.
func (s *steps) bound(compare func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = maxSteps
	defer func() {
		switch r := recover(); r.(type) {
		case nil, errTooManySteps:
		default:
			panic(r)
		}
	}()
	compare()
}
