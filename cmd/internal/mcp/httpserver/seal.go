package httpserver

import (
	"context"
	"crypto/hmac"
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

// sealer authenticates the ids of sessions, so that a replica takes only those that another one has given out.
type sealer struct {
	replicas Replicas

	mu  sync.Mutex
	key []byte
}

// mac returns the authentication of an id for a subject. It fails while the key cannot be had.
// Without replicas there is no key, so that ids outlive a restart: whoever makes up an id gets a new session of his own, and
// nobody one by the id of another.
func (s *sealer) mac(id, subject string) (string, error) {
	if s == nil {
		return authenticated(nil, id, subject), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == nil {
		ctx, cancel := context.WithTimeout(context.Background(), keyWithin)
		defer cancel()
		key, err := s.replicas.SharedKey(ctx, keyName)
		if err != nil {
			return "", fmt.Errorf("reading the key of session ids: %w", err)
		}
		s.key = key
	}
	return authenticated(s.key, id, subject), nil
}

func authenticated(key []byte, id, subject string) string {
	hash := hmac.New(sha256.New, key)
	hash.Write([]byte(id + "\x00" + subject))
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:macBytes])
}

// seal adds the authentication to a new id.
func (s *sealer) seal(id, subject string) (string, error) {
	if s == nil && subject == "" {
		return id, nil
	}
	mac, err := s.mac(id, subject)
	return id + "." + mac, err
}

// opens reports whether an id was given out for a subject. It fails while that cannot be told.
func (s *sealer) opens(id, subject string) (bool, error) {
	if s == nil && subject == "" {
		return true, nil
	}
	at := strings.LastIndexByte(id, '.')
	if at < 0 || len(id)-at-1 != base64.RawURLEncoding.EncodedLen(macBytes) {
		return false, nil
	}
	want, err := s.mac(id[:at], subject)
	return err == nil && hmac.Equal([]byte(want), []byte(id[at+1:])), err
}
