package grep

import (
	"bytes"
	"strconv"
)

// names reads what rg and grep print with --null: names, which end with NUL, each with a number and a text after it as
// far as the options ask for them. A text is skipped: it is read from the file later.
type names struct {
	ends string // the byte that ends each of the parts
	take func(name string, number int) error

	at     int // the current part
	name   []byte
	number []byte
}

const (
	onlyNames  = "\x00"    // rg -l
	withCounts = "\x00\n"  // rg -c
	withLines  = "\x00:\n" // grep -n
)

func (n *names) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte{n.ends[n.at]})
		switch n.at {
		case 0:
			n.name = append(n.name, part...)
		case 1:
			n.number = append(n.number, part...)
		}
		if p = rest; !ended {
			break
		}
		if n.at++; n.at < len(n.ends) {
			continue
		}
		number, err := strconv.Atoi(string(n.number))
		if err == nil || n.ends == onlyNames {
			err = n.take(string(n.name), max(number, 1))
		} else {
			err = nil
		}
		n.at, n.name, n.number = 0, n.name[:0], n.number[:0]
		if err != nil {
			return 0, err
		}
	}
	return written, nil
}
