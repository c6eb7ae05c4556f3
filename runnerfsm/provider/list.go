package provider

// All returns the supported clients.
func All() []Provider { return []Provider{Claude{}, Codex{}} }

// ByName returns the provider with a name, and whether there is one.
func ByName(name string) (Provider, bool) {
	for _, p := range All() {
		if p.Name() == name {
			return p, true
		}
	}
	return nil, false
}
