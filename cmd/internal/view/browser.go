package view

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// submit posts the form of an opening file.
const submit = "document.forms[0].submit()"

// opening returns a file that posts the token as soon as a browser opens it. The token is in no address, so that no history and no
// list of processes has it.
func opening(host, token string) []byte {
	hash := sha256.Sum256([]byte(submit))
	host = html.EscapeString(host)
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-%s'; form-action http://%s">
<title>mcp-pruner view</title>
<form method="post" action="http://%s%s"><input type="hidden" name="token" value="%s"><button>Open mcp-pruner view</button></form>
<script>%s</script>
</html>
`, base64.StdEncoding.EncodeToString(hash[:]), host, host, enterPath, html.EscapeString(token), submit)
}

// WriteOpening writes the opening file into a new folder, which only the user can read. remove removes both.
func WriteOpening(host, token string) (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "mcp-pruner-view-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // the token in it is used up, or its server ends
	path = filepath.Join(dir, "open.html")
	if err := os.WriteFile(path, opening(host, token), 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}

// Browse opens a file in the user's browser.
func Browse(ctx context.Context, path string) error {
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	return exec.CommandContext(ctx, name, args...).Run()
}
