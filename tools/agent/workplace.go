package agent

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Workplace is the place in a request to its model's API at which a client says in which folder it works. Nothing else in a request
// counts: a person's words, and files of instructions for agents, may contain anything.
type Workplace struct {
	// Told: it is in the system prompt, or in a message of that role; else it is in a text of its own beside the person's words.
	Told bool

	// Line matches it in such a text; the first group is the folder.
	Line func() *regexp.Regexp
}

// Folders returns the folders in which the client says it works, in their order. told are its system prompt and the messages of
// that role, words the other texts before the first answer.
func (c *Client) Folders(told, words []string) (folders []string) {
	if c.Workplace == nil {
		return nil
	}
	texts := words
	if c.Workplace.Told {
		texts = told
	}
	for _, text := range texts {
		for _, m := range c.Workplace.Line().FindAllStringSubmatch(text, -1) {
			if folder := strings.TrimSpace(m[1]); filepath.IsAbs(folder) {
				folders = append(folders, folder)
			}
		}
	}
	return folders
}
