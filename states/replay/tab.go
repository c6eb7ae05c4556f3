package replay

import "encoding/json"

// Policies returns all policies in the order of a report.
func Policies() []Policy { return []Policy{Hook, MCP, Proxy, GC, Context, Both, All} }

// Tab is a report with the data that a page needs beside its JSON.
type Tab struct {
	Report
	TabData
}

// TabData is what a page needs beside the JSON of a report.
type TabData struct {
	Warning    string               `json:"warning,omitempty"`
	Order      []Policy             `json:"order"`   // the policies that prune, as they are shown; none where no net can be said
	Classes    []Share              `json:"classes"` // of results by size
	PerSession map[Policy][]float64 `json:"per_session"`
}

// MarshalJSON writes the report, which has a form of its own, and the data in one object.
func (t Tab) MarshalJSON() ([]byte, error) {
	report, err := json.Marshal(t.Report)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(t.TabData)
	if err != nil {
		return nil, err
	}
	return append(append(report[:len(report)-1], ','), data[1:]...), nil
}

// Share is a part of the bill in percent.
type Share struct {
	Name string  `json:"name"`
	Pct  float64 `json:"pct"`
}

// Tab returns the report as the tab of a page.
func (r Report) Tab() Tab {
	t := Tab{r, TabData{Order: []Policy{}, PerSession: map[Policy][]float64{}}}
	var printed bool
	t.Warning, printed = r.Label()
	for _, c := range SizeClasses {
		t.Classes = append(t.Classes, Share{c.Name, r.Sizes[c.Name]})
	}
	for _, p := range Policies() {
		if _, ok := r.Of(p); ok && printed {
			t.Order = append(t.Order, p)
			t.PerSession[p] = r.Details[p].PerSession
		}
	}
	return t
}
