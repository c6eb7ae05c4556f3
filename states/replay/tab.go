package replay

// Policies returns all policies in the order of a report.
func Policies() []Policy { return []Policy{Hook, MCP, Proxy, GC, Context, Both, All} }

// Tab is a report with the data that a page needs beside its JSON.
type Tab struct {
	Report
	Warning    string               `json:"warning,omitempty"`
	Order      []Policy             `json:"order"`   // the policies that prune, as they are shown
	Classes    []Share              `json:"classes"` // of results by size
	PerSession map[Policy][]float64 `json:"per_session"`
}

// Share is a part of the bill in percent.
type Share struct {
	Name string  `json:"name"`
	Pct  float64 `json:"pct"`
}

// Tab returns the report as the tab of a page.
func (r Report) Tab() Tab {
	t := Tab{Report: r, PerSession: map[Policy][]float64{}}
	t.Warning, _ = r.Label()
	for _, c := range SizeClasses {
		t.Classes = append(t.Classes, Share{c.Name, r.Sizes[c.Name]})
	}
	for _, p := range Policies() {
		if _, ok := r.Of(p); ok {
			t.Order = append(t.Order, p)
			t.PerSession[p] = r.Details[p].PerSession
		}
	}
	return t
}
