// Package e2e runs the real clients, pinned, against the real program and a mock
// model API, and builds and runs the container image: "make e2e". Its tests have the
// build tag e2e.
package e2e
