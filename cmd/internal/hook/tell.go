package hook

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// maxBilled is the size in bytes of the longest transcript that is read at the end of a turn.
const maxBilled = 16 << 20

// tell answers at the end of a turn with what the hooks have done in the session, if that is something else than it was told before.
// The account is kept for the status line, which has no time to read a transcript.
func (s state) tell(ctx context.Context, c *agent.Client, call agent.Call) []byte {
	if c.Hooks.Tell == nil || !plainSession(call.Session) {
		return nil
	}
	list, did := NotesOf(s.dir, call.Session), s.proxied(ctx, call.Session)
	var proxied []Proxied
	if did.Usage.Cleared+len(did.Changed) > 0 {
		proxied = append(proxied, did)
	}
	if len(list)+len(proxied) == 0 {
		return nil
	}
	sum, before := SumOf(list), ReadTold(s.dir, call.Session)
	now := toldLast{Done: before.Done, Saved: savedBy(ctx, list, proxied)}
	var answer []byte
	if done := sum.Done(now.Saved); done != "" && done != before.Done && s.tells(call) {
		now.Done = done
		answer, _ = json.Marshal(c.Hooks.Tell(sum.Line(now.Saved))) // a map of texts
	}
	sweep(toldFolder(s.dir), s.now(), pausedFor)
	if now.Write(s.dir, call.Session) != nil {
		return nil // it would be told after every turn
	}
	return answer
}

// tells reports whether neither the environment nor the project turns the message off.
func (s state) tells(call agent.Call) bool {
	v, _ := s.lookup(settings.Tell)
	return !isOff(v) && !offIn(s.project(call.Folder), settings.Tell)
}

// proxied returns what the proxy noted of a session.
func (s state) proxied(ctx context.Context, session string) Proxied {
	past, err := assemble.OpenHistory("", "", s.lookup)
	if err != nil {
		return Proxied{}
	}
	defer func() { _ = past.Close() }() // it was only read
	changed, u, _ := past.Session(ctx, contextgc.SessionID(session))
	return Proxied{u, changed}
}

// savedBy returns the account of a session by its transcripts, nil if they cannot be read in time. Clients write a transcript
// shortly after they run hooks, so it waits for a first turn's results.
func savedBy(ctx context.Context, list []Note, proxied []Proxied) *GainPart {
	read := int64(-1)
	for waited := time.Duration(0); ; waited += lookAgain {
		size, ok := billed(list)
		if !ok {
			return nil
		}
		if size != read {
			read = size
			gain, err := GainOf(ctx, list, proxied)
			if err != nil {
				return nil
			}
			if gain.Total.Known != 0 { // the model call that reads the result is there, too
				return &gain.Total
			}
		}
		if waited >= lateBy {
			return nil
		}
		pause(lookAgain)
	}
}

// billed returns the total size in bytes of the transcripts that the notes of cut results name. ok is false if one of them is missing
// or longer than maxBilled.
func billed(list []Note) (size int64, ok bool) {
	for _, n := range list {
		if n.Back {
			continue
		}
		info, err := os.Stat(n.Transcript)
		if err != nil || info.Size() > maxBilled {
			return 0, false
		}
		size += info.Size()
	}
	return size, true
}
