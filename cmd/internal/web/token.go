package web

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
)

// maxToken is the maximum length of a token in bytes.
const maxToken = 4096

// ReadToken returns the first line of a file that only its owner may read.
func ReadToken(path string) (Token, error) {
	raw, err := readSecret(path, maxToken)
	if err != nil {
		return "", err
	}
	token, _, _ := strings.Cut(string(raw), "\n")
	if token = strings.TrimSpace(token); token == "" {
		return "", errors.New(path + ": the first line is empty")
	}
	return Token(token), nil
}

// readSecret returns what is in a file that only its owner may read.
func readSecret(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > most:
		return nil, fmt.Errorf("%s: want a file of at most %d bytes", path, most)
	case othersMayRead(runtime.GOOS, info.Mode(), isMounted(info)):
		return nil, fmt.Errorf("%s: others may read it; chmod 600", path)
	}
	return os.ReadFile(path)
}

// othersMayRead reports whether the mode of a file lets other users read or change it. On Windows the mode says
// nothing about other users. A mounted file belongs to root, and its group is how the program may read it.
func othersMayRead(system string, mode os.FileMode, mounted bool) bool {
	others := os.FileMode(0o077)
	if mounted {
		others &^= 0o040
	}
	return system != "windows" && mode.Perm()&others != 0
}
