package service

import (
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// Health is the answer of the health tool, method and page.
type Health struct {
	Status       string   `json:"status"`
	Server       string   `json:"server"`
	Version      string   `json:"version"`
	Capabilities []string `json:"capabilities"`
	Timestamp    string   `json:"timestamp"` // RFC 3339

	ModelLoaded bool        `json:"model_loaded"` // always true: swe-pruner clients wait for it
	Backend     string      `json:"backend"`
	Metrics     Metrics     `json:"metrics"`
	Recovery    StoreHealth `json:"recovery"`
}

// StoreHealth counts the texts that can be recovered.
type StoreHealth struct {
	recovery.Stats
	Error string `json:"error,omitempty"`
}

// Health returns the state of the service. It takes no slot and waits for no call.
func (s *Service) Health() Health {
	h := Health{
		Status: "healthy", Server: "mcp-pruner", Version: s.settings.Version,
		Capabilities: []string{"prune_text", "recover_text", "annotations", "markers"},
		Timestamp:    s.settings.Now().Format(time.RFC3339),
		ModelLoaded:  true,
		Backend:      "heuristic",
		Metrics:      s.counters.snapshot(),
	}
	if s.settings.Reranker != nil {
		h.Backend = "deepinfra"
	}
	stats, err := s.settings.Store.Stats()
	h.Recovery = StoreHealth{Stats: stats}
	if err != nil {
		h.Recovery.Error = "the recovery store cannot be read"
	}
	return h
}
