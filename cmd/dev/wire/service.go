package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// newService serves a pruning service. The length of the question decides whether it prunes, and what else it does.
func newService() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Code, Query string }
		if json.NewDecoder(r.Body).Decode(&ask) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		switch len(ask.Query) % 11 {
		case 0:
			w.WriteHeader(http.StatusInternalServerError)
		case 1:
			_, _ = io.WriteString(w, "<html>")
		case 2:
			_, _ = io.WriteString(w, `{"pruned_code":""}`)
		case 3:
			_, _ = io.WriteString(w, encode(object{"content": ask.Code}))
		default:
			_, _ = io.WriteString(w, encode(object{"pruned_code": everyTenth(ask.Code)}))
		}
	}))
}

// everyTenth keeps each tenth line and marks the others as the reference service does.
func everyTenth(text string) string {
	lines := strings.Split(text, "\n")
	var b strings.Builder
	for i := 0; i < len(lines); i += 10 {
		_, _ = fmt.Fprintf(&b, "%s\n(filtered %d lines)\n", lines[i], min(9, len(lines)-i-1))
	}
	return b.String()
}
