package tracecmd

import (
	"errors"
	"io"
)

func runReport(s settings, stdin io.Reader, stdout io.Writer) (int, error) {
	return exitBad, errors.New("not yet")
}
