// Package bucket keeps texts as objects in a bucket of any service with Amazon's S3 API.
package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Settings name a bucket and the access key for it.
type Settings struct {
	URL    string `json:"url"`    // https://HOST/BUCKET or https://BUCKET.HOST, with a prefix of the objects' names after it or without
	Region string `json:"region"` // "": us-east-1, which services other than Amazon's mostly take
	ID     string `json:"access_key_id"`
	Secret string `json:"secret_access_key"`
}

// Read reads settings from a JSON file.
func Read(file string) (s Settings, err error) {
	f, err := os.Open(file)
	if err != nil {
		return s, err
	}
	defer func() { _ = f.Close() }()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil || s.URL == "" || s.ID == "" || s.Secret == "" {
		return Settings{}, fmt.Errorf(`%s: want {"url": "https://HOST/BUCKET", "region": "...", "access_key_id": "...", "secret_access_key": "..."}`, file)
	}
	_, err = New(s)
	return s, err
}

// ErrNotFound means that there is no such object.
var ErrNotFound = errors.New("the bucket has no such object")

// requestWithin is how long one request may take.
const requestWithin = 30 * time.Second

// maxObject bounds what is read of an object, in bytes.
const maxObject = 1 << 30

// Bucket is safe for concurrent use.
type Bucket struct {
	settings Settings
	base     *url.URL
	client   *http.Client
	sign     *v4.Signer
}

// New returns a bucket without asking for it.
func New(s Settings) (*Bucket, error) {
	base, err := url.Parse(s.URL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil || base.RawQuery != "" {
		return nil, errors.New("a bucket's address is https://HOST/BUCKET or https://BUCKET.HOST, without credentials")
	}
	if s.Region == "" {
		s.Region = "us-east-1"
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // S3 signs paths as they are sent
	return &Bucket{settings: s, base: base, client: &http.Client{Timeout: requestWithin}, sign: signer}, nil
}

// Put stores an object. One with the same name is replaced.
func (b *Bucket) Put(ctx context.Context, name string, text []byte) error {
	_, err := b.do(ctx, http.MethodPut, name, text)
	return err
}

// Get returns an object, or ErrNotFound.
func (b *Bucket) Get(ctx context.Context, name string) ([]byte, error) {
	return b.do(ctx, http.MethodGet, name, nil)
}

// Delete removes an object. One that is gone is no error.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	_, err := b.do(ctx, http.MethodDelete, name, nil)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func (b *Bucket) do(ctx context.Context, method, name string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, b.base.JoinPath(name).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	r.Header.Set("X-Amz-Content-Sha256", hash)
	key := aws.Credentials{AccessKeyID: b.settings.ID, SecretAccessKey: b.settings.Secret}
	if err := b.sign.SignHTTP(ctx, key, r, hash, "s3", b.settings.Region, time.Now()); err != nil {
		return nil, err
	}
	answer, err := b.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("the bucket at %s: %w", b.base.Host, err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxObject))
	switch {
	case answer.StatusCode == http.StatusNotFound && !strings.Contains(string(text), "NoSuchBucket"):
		return nil, ErrNotFound
	case answer.StatusCode/100 != 2:
		return nil, fmt.Errorf("the bucket at %s refuses: %s %s", b.base.Host, answer.Status, code(text))
	case err != nil:
		return nil, fmt.Errorf("the bucket at %s: %w", b.base.Host, err)
	}
	return text, nil
}

// code returns the code in an error of S3, such as AccessDenied.
func code(answer []byte) string {
	_, rest, _ := strings.Cut(string(answer), "<Code>")
	code, _, found := strings.Cut(rest, "</Code>")
	if !found || len(code) > 64 {
		return ""
	}
	return code
}
