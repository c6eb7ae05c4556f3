// Package e2e runs real clients of pinned versions with the real program and a mock model API, and builds and runs the
// container image. "make e2e" runs its tests, which have the build tag e2e.
package e2e
