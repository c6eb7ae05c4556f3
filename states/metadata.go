package states

// Reasons why the output of a failed tool was not pruned; those of results are in
// the tables.
const (
	NoFocusQuestion        = "no_focus_question"
	DisabledOrUnconfigured = "disabled_or_unconfigured"
	OutputEmpty            = "output_empty"
)

// PruningMetadata says what happened to a request's output. The request machine
// fills it, field by field, as the rows it takes say.
type PruningMetadata struct {
	Attempted        bool        `json:"attempted"` // a pruner was called
	Applied          bool        `json:"applied"`   // its answer is what is returned
	Fallback         bool        `json:"fallback"`  // it was called and the raw output is returned
	Reason           string      `json:"reason,omitempty"`
	RawBytes         int         `json:"raw_bytes"`
	PrunedBytes      *int        `json:"pruned_bytes,omitempty"`       // only when applied
	PrunerDurationMS *int64      `json:"pruner_duration_ms,omitempty"` // whenever a pruner was called
	Error            *PruneError `json:"error,omitempty"`              // only with reason pruner_error
}

// PruneError says why a pruner failed.
type PruneError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// set writes one field by the name the tables use. Names and types come from
// the tables and handlers of this program; a wrong one is a bug and panics.
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
