package hook

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// maxBilled is the size in bytes of the longest transcript that is read at the end of a turn.
const maxBilled = 16 << 20

// tell answers at the end of a turn with what the hooks have done in the session, if that is something else than it was told before.
// The net is kept for the status line, which has no time to read a transcript.
func (s state) tell(ctx context.Context, c *agent.Client, call agent.Call) []byte {
	if c.Hooks.Tell == nil || !plainSession(call.Session) {
		return nil
	}
	list := NotesOf(s.dir, call.Session)
	if len(list) == 0 {
		return nil
	}
	sum, before := SumOf(list), ReadTold(s.dir, call.Session)
	now := toldLast{Done: before.Done, Net: netOf(ctx, list)}
	var answer []byte
	if done := sum.Done(now.Net); done != before.Done && s.tells(call) {
		now.Done = done
		answer, _ = json.Marshal(c.Hooks.Tell(sum.Line(now.Net))) // a map of texts
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

// netOf returns the net of a session's cuts by its transcripts, nil if they cannot be read in time. Clients write a transcript
// shortly after they run hooks, so it waits for a first turn's results.
func netOf(ctx context.Context, list []Note) *worth {
	read := int64(-1)
	for waited := time.Duration(0); ; waited += lookAgain {
		size, ok := billed(list)
		if !ok {
			return nil
		}
		if size != read {
			read = size
			gain, err := GainOf(ctx, list)
			if err != nil {
				return nil
			}
			if gain.Known.Results > 0 && gain.Known.Gross > 0 { // the model call that reads the result is there, too
				return &worth{Tokens: gain.Total.Net, Again: gain.Total.Again}
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
