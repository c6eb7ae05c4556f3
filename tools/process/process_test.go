package process

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A3: what does not end by SIGTERM is killed 500 ms later.
func TestTheTimeBetweenSIGTERMAndSIGKILL(t *testing.T) {
	assert.Equal(t, 500*time.Millisecond, killAfter)
}

// windowsTree is a process tree on a Windows that consists of a stand-in for taskkill.
type windowsTree struct {
	refuse  int // the number of calls of taskkill that fail before one succeeds
	calls   []string
	started time.Time
	lived   time.Duration
	dead    bool
}

func (w *windowsTree) Alive() bool { return !w.dead }

func (w *windowsTree) Signal(s syscall.Signal) {
	endTree(42, s, func(name string, args ...string) error {
		w.calls = append(w.calls, name+" "+strings.Join(args, " "))
		if len(w.calls) <= w.refuse {
			return errors.New("access is denied")
		}
		w.dead, w.lived = true, time.Since(w.started)
		return nil
	})
}

// On Windows SIGTERM does nothing, so a process tree is killed when the grace period is over, and again if that fails.
func TestAProcessTreeOnWindowsIsKilled(t *testing.T) {
	for name, c := range map[string]struct {
		ask    syscall.Signal
		refuse int
		lives  time.Duration
	}{
		"after the grace period": {syscall.SIGTERM, 0, killAfter},
		"at once":                {syscall.SIGKILL, 0, 0},
		"again":                  {syscall.SIGKILL, 2, lookEvery},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &windowsTree{refuse: c.refuse, started: time.Now()}
				End(w, c.ask, killAfter, nil)
				assert.Equal(t, c.lives, w.lived)
				assert.Equal(t, slices.Repeat([]string{"taskkill /T /F /PID 42"}, c.refuse+1), w.calls)
			})
		})
	}
}
