package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"
	"time"
)

// Caller is the owner of a credential.
type Caller struct {
	Subject string    // "": the owner of the machine
	Doors   []string  // the programs that the credential is for; none: all of them
	Until   time.Time // when the credential expires; zero: never
}

// Why a credential admits nobody. Any other error means that it could not be found out.
var (
	ErrUnknownCaller = errors.New("the credential is not known, has expired or was revoked")
	ErrScope         = errors.New("the credential is not for this server")
)

// AuthMethod is one way to show who calls. TestMethods has what every one of them passes.
type AuthMethod interface {
	// Check returns whose a credential is.
	Check(ctx context.Context, credential string) (Caller, error)
}

// Gate admits the callers of one program.
type Gate struct {
	Door    string // the program's name in the scopes of keys: serve, gateway, pruner or proxy
	Methods []AuthMethod
	OAuth   *ProtectedResource // what clients are told of the tokens that one of the methods accepts; nil: none does
}

// Check returns whose a credential is, by the first method that knows it. It fails with the error of a method that could
// not find out, if no other knows the credential.
func (g *Gate) Check(ctx context.Context, credential string) (Caller, error) {
	failure := ErrUnknownCaller
	for _, m := range g.Methods {
		c, err := m.Check(ctx, credential)
		switch {
		case err == nil && len(c.Doors) > 0 && !slices.Contains(c.Doors, g.Door):
			return Caller{}, ErrScope
		case err == nil:
			return c, nil
		case !errors.Is(err, ErrUnknownCaller):
			failure = err
		}
	}
	return Caller{}, failure
}

// Owns reports whether a text is a credential for this program or looks like one. It must not be sent anywhere else.
func (g *Gate) Owns(text string) bool {
	return IsKey(text) || slices.ContainsFunc(g.Methods, func(m AuthMethod) bool {
		o, ok := m.(interface{ Owns(string) bool })
		return ok && o.Owns(text)
	})
}

// Ready returns an error if no caller can be admitted now.
func (g *Gate) Ready(ctx context.Context) error {
	var failure error
	for _, m := range g.Methods {
		r, depends := m.(interface{ Ready(context.Context) error })
		if !depends {
			return nil
		}
		err := r.Ready(ctx)
		if err == nil {
			return nil
		}
		failure = err
	}
	return failure
}

// Unavailable reports whether an error means that it could not be found out whose a credential is.
func Unavailable(err error) bool {
	return err != nil && !errors.Is(err, ErrUnknownCaller) && !errors.Is(err, ErrScope)
}

// Token is a method with one credential, which belongs to the owner of the machine.
type Token string

// Owns reports whether a text is the token.
func (t Token) Owns(text string) bool {
	_, err := t.Check(context.Background(), text)
	return err == nil
}

// Check implements [AuthMethod]. It compares in constant time.
func (t Token) Check(_ context.Context, credential string) (Caller, error) {
	a, b := sha256.Sum256([]byte(t)), sha256.Sum256([]byte(credential))
	if t == "" || subtle.ConstantTimeCompare(a[:], b[:]) != 1 {
		return Caller{}, ErrUnknownCaller
	}
	return Caller{}, nil
}
