package runnerfsm

// Usage is what the server's own results say about a run, as the client passed
// them on: it counts what reached the client and survives whatever ends it.
type Usage struct {
	Calls    int // results of our tools
	Pruned   int // of which pruned
	RawBytes int // what the pruned ones would have been
	Bytes    int // what they were
}

func (u *Usage) add(p Pruning) {
	u.Calls++
	if p.Applied {
		u.Pruned++
		u.RawBytes += p.RawBytes
		u.Bytes += p.PrunedBytes
	}
}

// bytesPerToken is the usual rule of thumb for code and English.
const bytesPerToken = 4

// SavedTokens estimates the tokens that pruning kept out of the conversation.
func (u Usage) SavedTokens() int { return (u.RawBytes - u.Bytes) / bytesPerToken }
