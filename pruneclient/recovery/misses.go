package recovery

import (
	"fmt"
	"sync"
	"time"
)

// A subject that asks for this many ids that it does not have is answered for the rest of the window as if it had none,
// without a question to the backend. The owner of the machine, who has all of it, is not limited.
const (
	maxMisses  = 1000
	missWindow = time.Minute
)

// Misses counts, by subject, the questions for ids that were not found. It is safe for concurrent use.
type Misses struct {
	mu    sync.Mutex
	since time.Time // when the window began
	count map[string]int
}

// Exceeded reports whether a subject has had its misses in this window.
func (m *Misses) Exceeded(subject string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count == nil || now.Sub(m.since) >= missWindow || now.Before(m.since) {
		m.since, m.count = now, make(map[string]int)
	}
	return m.count[subject] >= maxMisses
}

// Add counts a miss, after Exceeded was asked, and reports the last one that the subject has in this window.
func (m *Misses) Add(subject string, report func(message string)) {
	if subject == "" {
		return
	}
	m.mu.Lock()
	m.count[subject]++
	last := m.count[subject] == maxMisses
	m.mu.Unlock()
	if last {
		report(fmt.Sprintf("subject %q asked for %d ids that it does not have: for up to %s it is told that it has none", subject, maxMisses, missWindow))
	}
}
