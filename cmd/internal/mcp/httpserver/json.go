package httpserver

import (
	"encoding/json"
	"net/http"
	"strconv"
)

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	setJSON(w.Header(), len(body))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

func setJSON(h http.Header, length int) {
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(length))
	h.Set("X-Content-Type-Options", "nosniff")
}
