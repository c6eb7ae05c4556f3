package upstream

import (
	"encoding/json"
	"slices"
)

// Annotations are the hints by which a client decides whether to run a tool without asking
// the user. nil means that the server gave no hint.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// UnmarshalJSON reads the hints. A hint that is not a boolean, null included, counts as the most careful value, and so do
// all hints if raw is not an object. Names are compared exactly, as clients do.
func (n *Annotations) UnmarshalJSON(raw []byte) error {
	*n = Annotations{}
	var fields map[string]json.RawMessage
	err := json.Unmarshal(raw, &fields)
	if err == nil && fields == nil { // null: no annotations
		return nil
	}
	for _, hint := range []struct {
		name    string
		careful bool
		value   **bool
	}{
		{"readOnlyHint", false, &n.ReadOnly}, {"destructiveHint", true, &n.Destructive},
		{"idempotentHint", false, &n.Idempotent}, {"openWorldHint", true, &n.OpenWorld},
	} {
		field, there := fields[hint.name]
		if !there && err == nil {
			continue
		}
		value := hint.careful
		switch string(field) {
		case "true":
			value = true
		case "false":
			value = false
		}
		*hint.value = &value
	}
	return nil
}

// mostCareful returns the hints of a tool of which nothing is known for sure.
func mostCareful() Annotations {
	yes, no := true, false
	return Annotations{ReadOnly: &no, Destructive: &yes, Idempotent: &no, OpenWorld: &yes}
}

// hints returns the hints by which a tool is offered. Those of a stored list count as the most careful ones, because the
// server may have changed the tool since.
func (d *Definition) hints() Annotations {
	if d.Stored {
		return mostCareful()
	}
	return d.Annotations
}

// Trusted reports whether the tool's hints make clients less careful than they are without hints.
func (d *Definition) Trusted() bool {
	careful, given := mostCareful(), d.Annotations
	return slices.ContainsFunc([][2]*bool{
		{given.ReadOnly, careful.ReadOnly}, {given.Destructive, careful.Destructive},
		{given.Idempotent, careful.Idempotent}, {given.OpenWorld, careful.OpenWorld},
	}, func(hint [2]*bool) bool { return hint[0] != nil && *hint[0] != *hint[1] })
}

// common returns annotations that hold for every tool of a list. If the tools differ, the more
// cautious hint is used. A hint that some tools lack is omitted, which makes clients
// assume the cautious value.
func common(list []Annotations) Annotations {
	all := func(get func(Annotations) *bool) (values []*bool) {
		for _, n := range list {
			values = append(values, get(n))
		}
		return values
	}
	return Annotations{
		ReadOnly:   careful(all(func(n Annotations) *bool { return n.ReadOnly }), false),
		Idempotent: careful(all(func(n Annotations) *bool { return n.Idempotent }), false),
		OpenWorld:  careful(all(func(n Annotations) *bool { return n.OpenWorld }), true),
		Destructive: careful(all(func(n Annotations) *bool {
			if n.Destructive == nil && n.ReadOnly != nil && *n.ReadOnly {
				return new(bool) // a tool that only reads destroys nothing
			}
			return n.Destructive
		}), true),
	}
}

// careful returns worst if any hint has that value, the opposite if all hints have that,
// and nil if some hints are missing.
func careful(values []*bool, worst bool) *bool {
	unknown := false
	for _, v := range values {
		switch {
		case v == nil:
			unknown = true
		case *v == worst:
			return &worst
		}
	}
	if unknown || len(values) == 0 {
		return nil
	}
	best := !worst
	return &best
}
