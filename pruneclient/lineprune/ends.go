package lineprune

// chooseEnds keeps what failed, and of the rest the head and the tail, up to a fraction of the text's tokens: a text that nobody
// asked about. Records are kept whole or not at all.
func chooseEnds(in input) Result {
	if why := in.patched(); why != "" {
		return in.resultOf(everything(len(in.Doc.Lines)), []string{why})
	}
	in.Listing = true
	s := in.selection()
	s.allowance = int(in.opts.Ends * float64(in.Doc.Total))
	head, tail := 0, len(s.keep)-1
	for more := true; more && head <= tail; {
		more = false
		if s.add(head, between) {
			head, more = head+1, true
		}
		if head <= tail && s.add(tail, ending) {
			tail, more = tail-1, true
		}
	}
	s.keepListed()
	s.settle(in.bridged())
	return in.resultOf(s.keep, nil)
}
