package connect

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// minSecret is the length in bytes from which a value is treated as a secret. Shorter values are numbers
// and switches, which occur in many other texts.
const minSecret = 6

// withoutSecrets removes from a text the values of a server's headers and environment, and the parts of its
// address before and after the host.
func withoutSecrets(text string, c Config) string {
	var secrets []string
	for _, value := range c.Env {
		secrets = append(secrets, value)
	}
	for _, value := range c.Headers {
		_, token, _ := strings.Cut(value, " ") // Bearer TOKEN
		secrets = append(secrets, value, token)
	}
	_, query, _ := strings.Cut(c.URL, "?")
	secrets = append(secrets, query)
	if u, err := url.Parse(c.URL); err == nil {
		secrets = append(secrets, u.EscapedPath()) // hosted servers have keys in theirs
		if u.User != nil {
			secrets = append(secrets, u.User.String())
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // longest first, because one may be part of another
	for _, secret := range secrets {
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "[hidden]")
		}
	}
	return text
}

// redacted returns an error without a server's secrets.
func redacted(err error, c Config) error {
	if text := withoutSecrets(err.Error(), c); text != err.Error() {
		return errors.New(text)
	}
	return err
}
