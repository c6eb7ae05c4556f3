package settings

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMisspelledSettingsAreFound(t *testing.T) {
	strays := Unknown([]string{"MCP_PRUNER_TRCE=x", "PRUNER_URL=embedded", "PRUNER_SOMETHING_ELSE=1", "MCP_PRUNER_CWDD=", "HOME=/", "PRUNER_TIMEOUT_SM=5"})
	assert.Equal(t, []Stray{
		{"MCP_PRUNER_TRCE", "MCP_PRUNER_TRACE"}, {"PRUNER_SOMETHING_ELSE", ""}, {"PRUNER_TIMEOUT_SM", "PRUNER_TIMEOUT_MS"},
	}, strays)
}

// Every default is a value that its own row accepts, and a program has one row for
// a name.
func TestTheTableIsConsistent(t *testing.T) {
	for _, program := range []Program{Stdio, HTTP, Pruner, Runner} {
		seen := make(map[string]bool)
		for _, r := range Rows(program) {
			require.False(t, seen[r.Name], "%s twice", r.Name)
			seen[r.Name] = true
			assert.NotEmpty(t, r.Allowed, r.Name)
			assert.NotEmpty(t, r.Meaning, r.Name)
			if r.Take != nil {
				assert.True(t, r.Take(new(Settings), r.Default), "%s does not take its default %q", r.Name, r.Default)
			}
		}
	}
}

// A setting that several programs have means the same to all of them, unless the
// design of the HTTP server or of the line pruner gives it another default.
func TestProgramsShareTheirDefaults(t *testing.T) {
	defaults := make(map[string]string)
	for _, r := range table() {
		if r.Code != "" || r.For == Pruner {
			continue
		}
		if first, again := defaults[r.Name]; again {
			assert.Equal(t, first, r.Default, r.Name)
		}
		defaults[r.Name] = r.Default
	}
}

func TestEveryBadSettingIsNamed(t *testing.T) {
	_, _, err := Load(Stdio, nil, FromEnv([]string{"MCP_PRUNER_LOG_LEVEL=loud", "PRUNER_MAX_INFLIGHT=0"}))
	require.ErrorContains(t, err, `MCP_PRUNER_LOG_LEVEL="loud": want debug, info, warn or error`)
	require.ErrorContains(t, err, `PRUNER_MAX_INFLIGHT="0": want an integer from 1 to 256`)
}
