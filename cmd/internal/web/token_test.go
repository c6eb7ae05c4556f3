package web

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A token that others may read is refused wherever the mode of a file says so.
func TestWhoMayReadAToken(t *testing.T) {
	for mode, open := range map[fs.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o620: true, 0o666: true} {
		assert.Equal(t, open, othersMayRead("linux", mode, false), mode)
		assert.Equal(t, open, othersMayRead("darwin", mode, false), mode)
		assert.Equal(t, open && mode != 0o640, othersMayRead("linux", mode, true), mode)
		assert.False(t, othersMayRead("windows", mode, false), mode)
	}
}
