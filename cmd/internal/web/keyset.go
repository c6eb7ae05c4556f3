package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// How long the keys of a provider count.
const (
	keysFresh = 5 * time.Minute // then they are fetched again, because one of them may have been withdrawn
	keysLost  = time.Hour       // while the provider cannot be asked
	keysAgain = 5 * time.Second // between requests, however many tokens have a signature by none of them
)

// keySet has the public keys of a provider.
type keySet struct {
	url    string
	client *http.Client
	now    func() time.Time

	mu             sync.Mutex
	keys           *oidc.StaticKeySet // nil: never fetched
	fetched, asked time.Time
	why            error // the latest request failed; nil: it did not
}

// errKeys says that it could not be found out whether a signature is good.
var errKeys = errors.New("the keys cannot be fetched")

// VerifySignature implements [oidc.KeySet]. A signature by no known key may be by a new one, which the provider is then asked for.
func (k *keySet) VerifySignature(ctx context.Context, token string) (payload []byte, err error) {
	keys, why := k.current(ctx, keysFresh)
	if keys != nil {
		if payload, err = keys.VerifySignature(ctx, token); err == nil {
			return payload, nil
		}
		keys, why = k.current(ctx, keysAgain)
	}
	if keys == nil || why != nil {
		return nil, fmt.Errorf("%w: %w", errKeys, why)
	}
	return keys.VerifySignature(ctx, token)
}

// current returns the keys, or nil if none count: then err says why. It asks the provider for those that are older than age, unless it asked a moment
// ago. err is also why the latest request failed.
func (k *keySet) current(ctx context.Context, age time.Duration) (keys *oidc.StaticKeySet, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if now.Sub(k.fetched) >= age && now.Sub(k.asked) >= keysAgain {
		k.asked = now
		known := now.Sub(k.fetched) < keysLost
		if known { // others go on with what is known meanwhile
			k.mu.Unlock()
		}
		keys, err = k.fetch(ctx)
		if known {
			k.mu.Lock()
		}
		if k.why = err; err == nil {
			k.keys, k.fetched = keys, now
		}
	}
	if now.Sub(k.fetched) >= keysLost {
		return nil, k.why
	}
	return k.keys, k.why
}

func (k *keySet) fetch(ctx context.Context) (*oidc.StaticKeySet, error) {
	request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, k.url, nil)
	if err != nil {
		return nil, err
	}
	response, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var all struct{ Keys []json.RawMessage }
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	} else if err := json.NewDecoder(response.Body).Decode(&all); err != nil {
		return nil, err
	}
	keys := &oidc.StaticKeySet{}
	for _, raw := range all.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && key.IsPublic() { // others are of kinds that nobody here knows, or secrets
			keys.PublicKeys = append(keys.PublicKeys, key.Key)
		}
	}
	return keys, nil
}
