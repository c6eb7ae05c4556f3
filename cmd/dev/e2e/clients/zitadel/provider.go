// Command provider is the example provider of zitadel/oidc for the tests: provider PORT RESOURCE SECONDS. Each start has another
// key. An agent gets a JWT for RESOURCE, or for another one with the scope "elsewhere", valid for that many seconds.
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// state is the example's, whose tokens are opaque and for the client itself.
type state struct {
	*storage.Storage
	resource string
	valid    time.Duration
}

// client is a client whose tokens are JWTs.
type client struct{ op.Client }

func (client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

func (s state) ClientCredentials(ctx context.Context, id, secret string) (op.Client, error) {
	c, err := s.Storage.ClientCredentials(ctx, id, secret)
	return client{c}, err
}

func (s state) ClientCredentialsTokenRequest(_ context.Context, id string, scopes []string) (op.TokenRequest, error) {
	resource := s.resource
	if slices.Contains(scopes, "elsewhere") {
		resource = "http://127.0.0.1:1/mcp"
	}
	return &oidc.JWTTokenRequest{Subject: id, Audience: []string{resource}, Scopes: scopes}, nil
}

func (s state) CreateAccessToken(ctx context.Context, r op.TokenRequest) (string, time.Time, error) {
	id, _, err := s.Storage.CreateAccessToken(ctx, r)
	return id, time.Now().Add(s.valid), err
}

func main() {
	log.SetFlags(0)
	port, resource := os.Args[1], os.Args[2]
	valid, err := time.ParseDuration(os.Args[3] + "s")
	if err != nil {
		log.Fatal(err)
	}
	issuer := "http://127.0.0.1:" + port
	s := state{storage.NewStorage(storage.NewUserStore(issuer)), resource, valid}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	handler := exampleop.SetupServer(issuer, s, slog.New(slog.DiscardHandler), false)
	fmt.Println("listening")
	log.Fatal(http.Serve(listener, handler))
}
