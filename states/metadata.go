package states

// PruningMetadata reports what pruning did to a request's output. The request machine sets
// the fields as its rows say.
type PruningMetadata struct {
	Attempted        bool        `json:"attempted"` // the pruner was called
	Applied          bool        `json:"applied"`   // the pruner's answer was returned
	Fallback         bool        `json:"fallback"`  // the pruner was called, but the raw output was returned
	Reason           string      `json:"reason,omitempty"`
	RawBytes         int         `json:"raw_bytes"`
	PrunedBytes      *int        `json:"pruned_bytes,omitempty"`       // only when applied
	PrunerDurationMS *int64      `json:"pruner_duration_ms,omitempty"` // whenever the pruner was called
	Error            *PruneError `json:"error,omitempty"`              // only with reason pruner_error
}

// PruneError says why a pruner failed.
type PruneError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// set sets one field by its name in the tables. Names and types come from the tables and
// handlers of this program, so an unknown name or wrong type is a bug and panics.
func (p *PruningMetadata) set(field string, value any) {
	switch field {
	case "attempted":
		p.Attempted = value.(bool)
	case "applied":
		p.Applied = value.(bool)
	case "fallback":
		p.Fallback = value.(bool)
	case "reason":
		p.Reason = value.(string)
	case "raw_bytes":
		p.RawBytes = value.(int)
	case "pruned_bytes":
		n := value.(int)
		p.PrunedBytes = &n
	case "pruner_duration_ms":
		n := value.(int64)
		p.PrunerDurationMS = &n
	case "error.code":
		p.problem().Code = value.(string)
	case "error.message":
		p.problem().Message = value.(string)
	default:
		panic("no metadata field " + field)
	}
}

func (p *PruningMetadata) problem() *PruneError {
	if p.Error == nil {
		p.Error = &PruneError{}
	}
	return p.Error
}
