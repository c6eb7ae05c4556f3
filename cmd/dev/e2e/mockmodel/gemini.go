package mockmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// gemini answers a request to Gemini's API. A request without tools is not a model turn.
func (m *Model) gemini(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, ":countTokens") {
		writeJSON(w, map[string]any{"totalTokens": 10})
		return
	}
	var body struct {
		Tools []struct {
			FunctionDeclarations []struct {
				Name string `json:"name"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Contents []struct {
			Role string `json:"role"`
		} `json:"contents"`
		Config json.RawMessage `json:"generationConfig"`
	}
	offers := func() bool {
		for _, t := range body.Tools {
			if len(t.FunctionDeclarations) > 0 {
				return true
			}
		}
		return false
	}
	if !m.receive(w, r, &body, offers) {
		return
	}
	turn, taken := Turn{Text: "ok"}, 0
	if strings.Contains(string(body.Config), "complexity_score") { // without a model of its user's choice the client asks which one to take
		turn.Text = `{"complexity_reasoning": "many steps", "complexity_score": 90}`
	}
	if offers() {
		for _, content := range body.Contents {
			if content.Role == "model" {
				taken++
			}
		}
		turn = m.turn(taken)
	}
	answer := map[string]any{
		"candidates":    []any{map[string]any{"index": 0, "finishReason": "STOP", "content": map[string]any{"role": "model", "parts": geminiParts(turn)}}},
		"usageMetadata": m.usage(r),
		"modelVersion":  "mock-model",
	}
	if strings.HasSuffix(r.URL.Path, ":streamGenerateContent") {
		streamData(w, answer)
		return
	}
	writeJSON(w, answer)
}

func geminiParts(t Turn) []any {
	var parts []any
	if t.Text != "" {
		parts = append(parts, map[string]any{"text": t.Text})
	}
	for _, c := range t.Calls {
		parts = append(parts, map[string]any{"functionCall": map[string]any{"name": c.named("_", "mcp_"), "args": c.Args}})
	}
	return parts
}
