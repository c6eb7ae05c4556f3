package service

import "time"

// Health is what the health tool, method and page answer.
type Health struct {
	Status       string   `json:"status"`
	Server       string   `json:"server"`
	Version      string   `json:"version"`
	Capabilities []string `json:"capabilities"`
	Timestamp    string   `json:"timestamp"` // RFC 3339

	ModelLoaded bool        `json:"model_loaded"` // always: clients of the swe-pruner service wait for it
	Backend     string      `json:"backend"`
	Metrics     Metrics     `json:"metrics"`
	Recovery    StoreHealth `json:"recovery"`
}

// StoreHealth says what can be recovered.
type StoreHealth struct {
	Items   int    `json:"items"`
	Texts   int    `json:"texts"`
	Bytes   int64  `json:"bytes"`
	Evicted int64  `json:"evicted"`
	Error   string `json:"error,omitempty"`
}

// Health tells how the service is. It takes no slot and waits for no prune.
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
	h.Recovery = StoreHealth{Items: stats.Items, Texts: stats.Texts, Bytes: stats.Bytes, Evicted: stats.Evicted}
	if err != nil {
		h.Recovery.Error = "the recovery store cannot be read"
	}
	return h
}
