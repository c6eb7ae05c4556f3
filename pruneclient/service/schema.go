package service

import "encoding/json"

// Tool describes one tool as tools/list shows it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// Tools returns the tools in the pruner's tools/list, in this order.
func Tools() []Tool {
	return []Tool{
		{"prune_text", pruneDescription, json.RawMessage(pruneSchema)},
		{"recover_text", recoverDescription, json.RawMessage(recoverSchema)},
		{"health", "Status, capabilities and metrics of the pruner.", json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)},
	}
}

const pruneDescription = "Shortens a long text to the lines that matter for a goal. Lines are kept word for word and in order, never summarised; " +
	"every omitted block is listed in annotations and, with include_markers, marked in place with its line numbers. " +
	"The answer's prune_id gives any of them back through recover_text for about ten minutes. " +
	"Text that is short, or says little about the goal, comes back whole with a warning. " +
	"State the goal concretely: names, error messages and what you want to know work best. " +
	"Do not prune what you need verbatim in full, such as a file you are about to rewrite."

const recoverDescription = "Returns original lines that prune_text, or a pruned tool output, left out. " +
	"prune_id is in the markers and in the answer; line numbers are the original's. Ranges come in the order asked for; end_line may be past the end. " +
	"With pattern, only the lines within ranges (none: the whole text) that contain it are returned, numbered; regex makes it an RE2 expression."

const pruneSchema = `{"type":"object","properties":{` +
	`"text":{"type":"string","description":"The text to shorten."},` +
	`"goal_hint":{"type":"string","description":"What the reader wants to find out or do."},` +
	`"source_type":{"type":"string","enum":["code","logs","docs"],"description":"What the text is."},` +
	`"options":{"type":"object","description":"Limits and form of the answer.","properties":{` +
	`"max_prune_ratio":{"type":"number","minimum":0,"maximum":1,"description":"Largest share of the lines that may go, e.g. 0.7."},` +
	`"min_keep_lines":{"type":"integer","minimum":0,"description":"Smallest number of lines that must stay."},` +
	`"timeout_ms":{"type":"integer","minimum":1,"description":"Time limit; past it the text comes back whole."},` +
	`"annotate_lines":{"type":"boolean","description":"Put the line number before each kept line."},` +
	`"include_markers":{"type":"boolean","description":"Mark each omitted block in the text."}},` +
	`"required":["max_prune_ratio","min_keep_lines","timeout_ms","annotate_lines","include_markers"],"additionalProperties":false}},` +
	`"required":["text","goal_hint","source_type","options"],"additionalProperties":false}`

const recoverSchema = `{"type":"object","properties":{` +
	`"prune_id":{"type":"string","description":"The id in the marker, prn_ and 32 digits."},` +
	`"ranges":{"type":"array","description":"Line ranges, both ends included.","items":{"type":"object","properties":{` +
	`"start_line":{"type":"integer","minimum":1,"description":"First line, from 1."},` +
	`"end_line":{"type":"integer","minimum":1,"description":"Last line."}},` +
	`"required":["start_line","end_line"],"additionalProperties":false}},` +
	`"include_line_numbers":{"type":"boolean","description":"Put the line number before each line."},` +
	`"pattern":{"type":"string","minLength":1,"maxLength":1000,"description":"Return only lines that contain this."},` +
	`"regex":{"type":"boolean","description":"pattern is an RE2 expression."}},` +
	`"required":["prune_id","ranges","include_line_numbers"],"additionalProperties":false}`
