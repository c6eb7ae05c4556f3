// Package secret keeps the secret with which clients show the proxy that they are its owner's. One secret serves all
// proxies of a user. It is in files that only the user can read, and in no argument, log or trace.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Header is the request header with the secret. A client that cannot send it has the secret as the first segment of the
// path, before /v1.
const Header = "X-Mcp-Pruner-Secret"

// Codex's own provider sends no header of a user's, but the value of this variable in this one. Its own address has no room for the
// secret in a run, because other users can read command lines.
const (
	ProjectVariable = "OPENAI_PROJECT"
	projectHeader   = "Openai-Project"
)

// Project returns the value of ProjectVariable with the secret, after that of the user.
func (s Secret) Project(own string) string { return strings.TrimSpace(own + " " + string(s)) }

// Mask stands for the secret wherever an address is shown.
const Mask = "***"

// A secret needs no escaping in a path or a header.
var (
	anywhere = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`mcpp_[0-9a-f]{48}`) })
	form     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + anywhere().String() + `$`) })
)

// In reports whether a text contains a secret, so that only its owner may read it.
func In(text []byte) bool { return anywhere().Match(text) }

// Secret is the content of the secret file; "" accepts every request.
type Secret string

// Names of files in the user's state directory.
const (
	secretName = "proxy-secret"
	proofName  = "proxy-proof"
)

// File returns the path of the secret, in the user's state directory.
func File(lookup func(string) (string, bool)) (string, error) { return file(lookup, secretName) }

// URLFile returns the path of the file with the address of the proxy on a port, with the secret.
func URLFile(lookup func(string) (string, bool), port int) (string, error) {
	return file(lookup, fmt.Sprintf("proxy-%d.url", port))
}

func file(lookup func(string) (string, bool), name string) (string, error) {
	dir, err := files.StateDir(lookup)
	if err != nil {
		return "", fmt.Errorf("there is no directory for the secret of the proxy: %w", err)
	}
	return filepath.Join(dir, name), nil
}

// New returns a secret that is in no file, for a proxy of a single run.
func New() Secret {
	random := make([]byte, 24)
	_, _ = rand.Read(random) // never fails
	return Secret("mcpp_" + hex.EncodeToString(random))
}

// Load returns the user's secret. It makes one if there is none yet.
func Load(lookup func(string) (string, bool)) (Secret, error) { return load(lookup, secretName) }

func load(lookup func(string) (string, bool), name string) (Secret, error) {
	path, err := file(lookup, name)
	if err != nil {
		return "", err
	}
	found, err := read(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return found, err
	}
	if err := write(path, string(New())+"\n"); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("write the secret of the proxy: %w", err)
	}
	return read(path) // another process may have been first
}

// Remove deletes the user's secret and key. A proxy that runs keeps them until its end.
func Remove(lookup func(string) (string, bool)) (failed error) {
	for _, name := range []string{secretName, proofName} {
		path, err := file(lookup, name)
		if err != nil {
			return nil // then there is none
		}
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// read returns the secret in a file, which only its owner may read.
func read(path string) (Secret, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		return "", fmt.Errorf("%s has mode %#o, so that others may know the secret: delete it, and run mcp-pruner init again where it was used", path, info.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	s := strings.TrimSpace(string(text))
	if !form().MatchString(s) {
		return "", fmt.Errorf("%s is not the secret of a proxy: delete it, and the proxy makes a new one", path)
	}
	return Secret(s), nil
}

// write creates a file that only its owner can read. It fails with fs.ErrExist if there is one. Nobody sees it incomplete.
func write(path, text string) error {
	return files.Atomic{Path: path, New: true}.Write([]byte(text))
}

// URL returns an address with the secret as the first segment of its path.
func (s Secret) URL(address string) string { return address + "/" + string(s) }

// WriteURL writes the address of a proxy, with the secret, into a file for clients to read.
func (s Secret) WriteURL(path, address string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return write(path, s.URL(address)+"\n")
}

// Take removes the secret from a request, header and path alike, and reports whether it was there and right.
func (s Secret) Take(r *http.Request) bool {
	if s == "" {
		return true
	}
	right := false
	for _, v := range r.Header.Values(Header) {
		right = s.is(v) || right
	}
	r.Header.Del(Header)
	own, last := "", r.Header.Get(projectHeader)
	if at := strings.LastIndexByte(last, ' '); at >= 0 {
		own, last = last[:at], last[at+1:]
	}
	if s.is(last) {
		right = true
		r.Header.Set(projectHeader, own)
		if own == "" {
			r.Header.Del(projectHeader)
		}
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if !s.is(first) {
		return right
	}
	path, err := url.PathUnescape("/" + rest)
	if err != nil {
		return false
	}
	r.URL.Path, r.URL.RawPath = path, "/"+rest
	return true
}

// is compares in constant time.
func (s Secret) is(given string) bool {
	a, b := sha256.Sum256([]byte(s)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
