package upstream

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAToolOnlyReadsIfAllItsVerbsDo(t *testing.T) {
	for _, name := range []string{"get_issue", "list_pull_requests", "getMergeRequest", "search-code", "find_and_list_users", "article_searcher",
		"read_file", "get_build_log", "get_report", "whois_domain", "list_commits_between"} {
		assert.True(t, onlyReads(name), name)
	}
	for _, name := range []string{"get_and_close", "query_and_drop_table", "query_drop_table", "get_or_create_user", "list_then_wipe", "find_and_obliterate",
		"search_and_post", "readAndDelete", "fetch_update", "check_merge", "text_editor", "frobnicate", "issue", "", "--", "get_file_converter", "delete_list",
		"get-kill-process"} {
		assert.False(t, onlyReads(name), name)
	}
}

func TestANounSaysWhatAToolWorksOn(t *testing.T) {
	for _, word := range []string{"page", "issue", "report", "log", "pr"} {
		assert.True(t, isNoun(word), word)
	}
	for _, word := range []string{"a", "the", "and", "current", "all", "x", "42", "delete"} {
		assert.False(t, isNoun(word), word)
	}
}
