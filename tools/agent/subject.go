package agent

import "context"

// subjectKey is the key of a request's subject: the name that its credential belongs to; "" is the owner of the machine, who
// needs none. It is not what a call asks about: that is tools.Subject.
type subjectKey struct{}

// WithSubject returns a context in which requests are made for a subject.
func WithSubject(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, subjectKey{}, name)
}

// SubjectOf returns the subject of the request that a context belongs to.
func SubjectOf(ctx context.Context) string {
	name, _ := ctx.Value(subjectKey{}).(string)
	return name
}

type userKey struct{}

// WithUser returns a context of requests that a reverse proxy sent for a user of its own. The name is for records only: it
// admits nobody.
func WithUser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, userKey{}, name)
}

// UserOf returns the user that the reverse proxy named, or "".
func UserOf(ctx context.Context) string {
	name, _ := ctx.Value(userKey{}).(string)
	return name
}
