package httpserver

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"time"
)

// keyName is the name of the key with which replicas authenticate session ids. keyWithin limits the wait for the key.
const (
	keyName   = "sessions"
	keyWithin = 2 * time.Second
	macBytes  = 16
)

// sealer authenticates the ids of sessions, so that only those are taken that this server, an earlier one, or another replica has
// given out.
type sealer struct {
	shared func(ctx context.Context, name string) ([]byte, error) // returns the key

	mu  sync.Mutex
	key []byte
}

// newSealer returns the sealer of a server. Its key is that of the replicas, or the machine's, or this process's own.
func newSealer(c Config) *sealer {
	if c.Replicas != nil {
		return &sealer{shared: c.Replicas.SharedKey}
	}
	return &sealer{shared: func(context.Context, string) ([]byte, error) {
		if c.Key != nil {
			if key := c.Key(); len(key) > 0 {
				return key, nil
			}
		}
		return []byte(rand.Text()), nil
	}}
}

// mac returns the authentication of an id for a subject. It fails while the key cannot be had.
func (s *sealer) mac(id, subject string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == nil {
		ctx, cancel := context.WithTimeout(context.Background(), keyWithin)
		defer cancel()
		key, err := s.shared(ctx, keyName)
		if err != nil {
			return "", fmt.Errorf("reading the key of session ids: %w", err)
		}
		s.key = key
	}
	hash := hmac.New(sha256.New, s.key)
	hash.Write([]byte(id + "\x00" + subject))
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:macBytes]), nil
}

// seal adds the authentication to a new id.
func (s *sealer) seal(id, subject string) (string, error) {
	mac, err := s.mac(id, subject)
	return id + "." + mac, err
}

// opens reports whether an id was given out for a subject. It fails while that cannot be told.
func (s *sealer) opens(id, subject string) (bool, error) {
	at := strings.LastIndexByte(id, '.')
	if at < 0 || len(id)-at-1 != base64.RawURLEncoding.EncodedLen(macBytes) {
		return false, nil
	}
	want, err := s.mac(id[:at], subject)
	return err == nil && hmac.Equal([]byte(want), []byte(id[at+1:])), err
}
