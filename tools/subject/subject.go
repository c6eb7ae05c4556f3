// Package subject says for whom a request is made. The subject of a request is the name that its credential belongs to;
// "" is the owner of the machine, who needs none. It is not what a call asks about: that is tools.Subject.
package subject

import "context"

type key struct{}

// With returns a context in which requests are made for a subject.
func With(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, key{}, name)
}

// Of returns the subject of the request that a context belongs to.
func Of(ctx context.Context) string {
	name, _ := ctx.Value(key{}).(string)
	return name
}

type userKey struct{}

// WithUser returns a context of requests that a reverse proxy sent for a user of its own. The name is for records only: it
// admits nobody.
func WithUser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, userKey{}, name)
}

// User returns the user that the reverse proxy named, or "".
func User(ctx context.Context) string {
	name, _ := ctx.Value(userKey{}).(string)
	return name
}
