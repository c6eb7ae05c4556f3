package auth

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
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > maxToken:
		return "", fmt.Errorf("%s: want a file of at most %d bytes", path, maxToken)
	case othersMayRead(runtime.GOOS, info.Mode(), isMounted(info)):
		return "", fmt.Errorf("%s: others may read it; chmod 600", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token, _, _ := strings.Cut(string(raw), "\n")
	if token = strings.TrimSpace(token); token == "" {
		return "", errors.New(path + ": the first line is empty")
	}
	return Token(token), nil
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
