package verbs

// problem is a kind of finding that is not ok. docs/TROUBLESHOOTING.md has a row for
// each, with the words that its message contains.
type problem int

// The problems, in the order of the page.
const (
	none problem = iota
	noShell
	noSearch
	slowSearch
	noAnswer
	noURL
	noRoot
	cannotBeMade
	cannotBeOpened
	notAllowed
	noSetting
	cannotBeStarted
	cannotBeRead
	cannotBeFound
	cannotBeChanged
	hookedTwice
	otherVersion
	noProxy
	proxyPasses
	leavesAlone
	noClient
	wantedAgain
	problems // their number
)

// String returns the words by which the message of a problem is recognized.
func (p problem) String() string {
	return [problems]string{
		noShell:         "neither bash nor sh is on PATH",
		noSearch:        "neither rg nor grep is on PATH",
		slowSearch:      "rg is not on PATH",
		noAnswer:        "does not answer",
		noURL:           "is no URL",
		noRoot:          "is no directory",
		cannotBeMade:    "cannot be made",
		cannotBeOpened:  "cannot be opened",
		notAllowed:      ": want ",
		noSetting:       "there is no such setting",
		cannotBeStarted: "cannot be started",
		cannotBeRead:    "cannot be read",
		cannotBeFound:   "cannot be found",
		cannotBeChanged: "cannot be changed",
		hookedTwice:     "beside the hooks of init",
		otherVersion:    "is another version",
		noProxy:         "no proxy answers",
		proxyPasses:     "replaces nothing",
		leavesAlone:     "leaves sessions alone",
		noClient:        "no client's configuration has this server",
		wantedAgain:     "is switched off, and",
	}[p]
}

// rank orders findings: notes come last.
func (p problem) rank() int {
	if p.mark() == "note" {
		return 1
	}
	return 0
}

// mark returns the first word of a finding's line.
func (p problem) mark() string {
	switch p {
	case none:
		return "ok"
	case noSearch, slowSearch, cannotBeChanged, hookedTwice, otherVersion, proxyPasses, leavesAlone, noClient, wantedAgain: // worth knowing, but not a fault
		return "note"
	}
	return "BAD"
}
