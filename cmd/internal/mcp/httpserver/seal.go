package httpserver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
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

// mac returns the authentication of an id for a subject, "" if the key cannot be had now.
func (s *sealer) mac(id, subject string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == nil {
		ctx, cancel := context.WithTimeout(context.Background(), keyWithin)
		defer cancel()
		key, err := s.replicas.SharedKey(ctx, keyName)
		if err != nil {
			return ""
		}
		s.key = key
	}
	hash := hmac.New(sha256.New, s.key)
	hash.Write([]byte(id + "\x00" + subject))
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:macBytes])
}

// seal adds the authentication to a new id. Without the key there is none: the client begins anew at the next replica.
func (s *sealer) seal(id, subject string) string {
	if s == nil {
		return id
	}
	if mac := s.mac(id, subject); mac != "" {
		return id + "." + mac
	}
	return id
}

// opens reports whether an id was given out for a subject.
func (s *sealer) opens(id, subject string) bool {
	if s == nil {
		return true
	}
	at := strings.LastIndexByte(id, '.')
	if at < 0 {
		return false
	}
	want := s.mac(id[:at], subject)
	return want != "" && hmac.Equal([]byte(want), []byte(id[at+1:]))
}
