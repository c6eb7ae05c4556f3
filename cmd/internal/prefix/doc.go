// Package prefix is about what a client sends before the first word of a session: system prompt, tools, memory files, skills,
// agents. It gets the request with which a session begins by starting the client once, headless, with a stand-in on loopback
// in place of its model's API (capture*.go), and splits it into the parts that a user can know and switch off, each with its
// tokens (parts.go, request.go). It reads in the user's own sessions which parts they used and what the prefix cost (usage.go),
// switches parts off in the client's settings and on again byte for byte (change.go), and finds what somebody wants again
// (asked.go).
package prefix
