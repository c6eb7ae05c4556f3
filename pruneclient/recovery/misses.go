package recovery

import (
	"sync"
	"time"
)

// A subject that asks for this many ids that it does not have is answered for the rest of the window as if it had none,
// without a question to the backend. The owner of the machine, who has all of it, is not limited.
const (
	maxMisses  = 1000
	missWindow = time.Minute
)

// misses counts, by subject, the questions for ids that were not found.
type misses struct {
	mu    sync.Mutex
	since time.Time // when the window began
	count map[string]int
}

// exceeded reports whether a subject has had its misses in this window.
func (m *misses) exceeded(subject string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count == nil || now.Sub(m.since) >= missWindow || now.Before(m.since) {
		m.since, m.count = now, make(map[string]int)
	}
	return m.count[subject] >= maxMisses
}

// add counts a miss and reports whether it is the last one that the subject has in this window.
func (m *misses) add(subject string) (last bool) {
	if subject == "" {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count[subject]++
	return m.count[subject] == maxMisses
}
