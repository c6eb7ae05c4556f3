package cli

// ShedSecrets does nothing: a Windows process cannot start itself anew.
func ShedSecrets(_, _ []string, _ bool) {}
