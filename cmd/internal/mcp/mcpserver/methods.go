package mcpserver

// methodListen opens a subscription in protocol 2026-07-28 and later.
const methodListen = "subscriptions/listen"

// featureMethods are the methods of the features, and whether protocol 2026-07-28 still has them.
var featureMethods = map[string]bool{
	"resources/list": true, "resources/templates/list": true, "resources/read": true,
	"resources/subscribe": false, "resources/unsubscribe": false,
	"prompts/list": true, "prompts/get": true,
	"completion/complete": true,
	"logging/setLevel":    false,
	"tasks/get":           false, "tasks/result": false, "tasks/list": false, "tasks/cancel": false,
}

func isFeature(method string) bool {
	_, is := featureMethods[method]
	return is
}

// known lists the methods besides tools/call that are answered.
var known = map[string]bool{"initialize": true, "ping": true, "tools/list": true, "server/discover": true}
