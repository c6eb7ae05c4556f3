package schema

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Finding is one violation of a schema.
type Finding struct {
	At      []string // member names and indexes from the value to what is wrong
	Code    string   // zod v3's issue code
	Text    string   // the violation in English
	Missing bool     // the member is required and absent
}

// Path is the location joined with dots.
func (f Finding) Path() string { return strings.Join(f.At, ".") }

// The issue codes of zod v3.
const (
	InvalidType    = "invalid_type"
	TooSmall       = "too_small"
	TooBig         = "too_big"
	InvalidString  = "invalid_string"
	InvalidLiteral = "invalid_literal"
	InvalidEnum    = "invalid_enum_value"
	Unrecognized   = "unrecognized_keys"
	Custom         = "custom"
)

// Check returns every violation, sorted by path and code. The value is what encoding/json
// decodes, with numbers as float64 or json.Number. A check that takes very many steps is given up, and finds nothing.
func (s *Schema) Check(value any) []Finding {
	var failed *jsonschema.ValidationError
	switch err := s.validate(bounded(value)); {
	case err == nil:
		return nil
	case !errors.As(err, &failed):
		return []Finding{{Code: Custom, Text: err.Error()}}
	}
	var found []Finding
	collect(failed, func(f Finding) { found = append(found, f) })
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Path(), b.Path()), strings.Compare(a.Code, b.Code), strings.Compare(a.Text, b.Text))
	})
	return slices.CompactFunc(found, func(a, b Finding) bool { return a.Path() == b.Path() && a.Code == b.Code && a.Text == b.Text })
}

func (s *Schema) validate(value any) (err error) {
	if s.steps == nil {
		return s.compiled.Validate(value)
	}
	s.steps.bound(func() { err = s.compiled.Validate(value) })
	return err
}

// collect passes on the leaves of an error. A missing member is found where it should be.
func collect(e *jsonschema.ValidationError, add func(Finding)) {
	if required, ok := e.ErrorKind.(*kind.Required); ok {
		for _, name := range required.Missing {
			add(Finding{At: append(slices.Clone(e.InstanceLocation), name), Code: InvalidType, Text: "missing", Missing: true})
		}
		return
	}
	if len(e.Causes) == 0 {
		add(Finding{At: e.InstanceLocation, Code: code(e.ErrorKind), Text: e.ErrorKind.LocalizedString(message.NewPrinter(language.English))})
	}
	for _, cause := range e.Causes {
		collect(cause, add)
	}
}

// code is the issue code of a violated keyword. An enum of one value is a literal. The
// schema false stands in patternProperties, for names that are not allowed:
// propertyNames would not do, because jsonschema v6 reports it without a location.
func code(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return InvalidType
	case *kind.MinLength, *kind.Minimum, *kind.ExclusiveMinimum, *kind.MinItems, *kind.MinProperties:
		return TooSmall
	case *kind.MaxLength, *kind.Maximum, *kind.ExclusiveMaximum, *kind.MaxItems, *kind.MaxProperties:
		return TooBig
	case *kind.Pattern, *kind.Format, *kind.FalseSchema:
		return InvalidString
	case *kind.Const:
		return InvalidLiteral
	case *kind.Enum:
		if len(k.Want) == 1 {
			return InvalidLiteral
		}
		return InvalidEnum
	case *kind.AdditionalProperties:
		return Unrecognized
	}
	return Custom
}
