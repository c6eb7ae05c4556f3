package tracecmd

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// filter says which records count.
type filter struct {
	since   time.Time
	session string
}

// from reads --since: a duration back from now, a day or a time.
func (f *filter) from(since string) error {
	if since == "" {
		return nil
	}
	if d, err := time.ParseDuration(since); err == nil && d >= 0 {
		f.since = time.Now().Add(-d)
		return nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, since); err == nil {
			f.since = t
			return nil
		}
	}
	return fmt.Errorf("--since %q is neither a duration (24h) nor a day (2026-11-21) nor a time (2026-11-21T04:00:00Z)", since)
}

func (f filter) takes(e *entry) bool {
	return !e.start.Before(f.since) && (f.session == "" || f.session == e.session)
}

// loaded is what a trace holds, records that were amended left out.
type loaded struct {
	entries    []*entry
	saved      []saving // by each
	writers    map[string]bool
	unreadable int
}

// load reads the records that a filter takes. Nothing is verified but checksums:
// a line that is no record, or one of no steps, is counted and left out. What a record saved depends on
// those before it, so the balance is made before the filter.
func load(s settings, stdin io.Reader) (loaded, error) {
	all, err := loadAll(s.files, stdin)
	if err != nil {
		return all, err
	}
	all.saved = savings(all.entries, s.limit)
	chosen := all.only(s.filter)
	switch {
	case len(all.entries) == 0:
		return chosen, errors.New("there is no record in it")
	case len(chosen.entries) == 0:
		return chosen, errors.New("there is no such record")
	}
	return chosen, nil
}

func loadAll(files []string, stdin io.Reader) (all loaded, err error) {
	at := make(map[string]int) // where the record of an id stands
	err = with(files, stdin, func(sources []source) error {
		return scan(sources, func() reader { return newReader(nil) }, func(l *line) error {
			if !l.ok || len(l.micros) == 0 {
				all.unreadable++
				return nil
			}
			e := l.entry
			if i, ok := at[e.id]; ok && e.amends {
				all.entries[i] = &e
				return nil
			}
			at[e.id] = len(all.entries)
			all.entries = append(all.entries, &e)
			return nil
		})
	})
	return all, err
}

// only is the part of it that a filter takes.
func (l loaded) only(f filter) loaded {
	part := loaded{writers: make(map[string]bool), unreadable: l.unreadable}
	for i, e := range l.entries {
		if f.takes(e) {
			part.entries, part.saved = append(part.entries, e), append(part.saved, l.saved[i])
			part.writers[e.writer] = true
		}
	}
	return part
}
