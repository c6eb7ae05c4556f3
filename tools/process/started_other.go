//go:build !linux && !darwin

package process

// Started cannot know when a process started on this system.
func Started(int) (start string, ok bool) { return "", false }
