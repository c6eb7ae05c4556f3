//go:build e2e

package e2e

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// saves fails the test unless a long result comes through a gateway in fewer characters, with its one line that matters and a way
// back, and unless a proxy before echo clears old results of a client that has this gateway's recover_text.
func saves(t *testing.T, key, gateway, proxy string) {
	t.Helper()
	l := newLoad(&team{t: t, keys: map[string]string{"alice": key}})
	l.phase.Store("saves")
	a := &agent{load: l, url: gateway, owner: "alice", client: "claude-code"}
	require.True(t, a.open(), "%v", l.problems)
	got := a.call("far_report", map[string]any{"id": "job-1"})
	require.Empty(t, got.failed)
	assert.Contains(t, got.text, "ERROR checksum of job-1")
	assert.Less(t, 10*len(got.text), len(teamReport("job-1")), "%.300s", got.text)
	id := pruneID.FindString(got.text)
	require.NotEmpty(t, id, "%.300s", got.text)
	assert.True(t, a.recovers(issued{id, "alice", "job-1"}), "%v", l.problems)

	c := &conversation{load: l, url: proxy, owner: "alice", name: "talk", calls: 60, shown: map[string]string{}}
	sent, ok := c.post()
	require.True(t, ok, "%v", l.problems)
	assert.Less(t, 10*len(sent), 6*len(c.history()), "of %d bytes %d were sent", len(c.history()), len(sent))
	assert.Empty(t, l.wrong)
}

// service is a program of docs/deploy.
type service struct {
	args []string
	env  map[string]string
}

// composed returns the services of the compose file.
func composed(t *testing.T) map[string]service {
	t.Helper()
	project, err := loader.LoadWithContext(t.Context(), compose.ConfigDetails{WorkingDir: ".", ConfigFiles: []compose.ConfigFile{
		{Filename: "compose.yaml", Content: []byte(read(t, "../../../docs/deploy/compose.yaml"))}}}, func(o *loader.Options) { o.SetProjectName("pruner", true) })
	require.NoError(t, err)
	all := map[string]service{}
	for name, s := range project.Services {
		all[name] = service{s.Command, map[string]string{}}
		for variable, value := range s.Environment {
			all[name].env[variable] = *value
		}
	}
	return all
}

// manifests returns the deployments for Kubernetes.
func manifests(t *testing.T) map[string]service {
	t.Helper()
	files, err := filepath.Glob("../../../docs/deploy/kubernetes/*.yaml")
	require.NoError(t, err)
	all := map[string]service{}
	for _, file := range files {
		var d apps.Deployment
		first, _, _ := strings.Cut(read(t, file), "\n---\n")
		require.NoError(t, yaml.Unmarshal([]byte(first), &d), file)
		of := d.Spec.Template.Spec.Containers[0]
		all[of.Name] = service{of.Args, map[string]string{}}
		for _, v := range of.Env {
			all[of.Name].env[v.Name] = v.Value
		}
	}
	return all
}

// TestWhatIsDeployedSaves starts gateway and proxy as the files of docs/deploy say, but for addresses and the places of files.
func TestWhatIsDeployedSaves(t *testing.T) {
	if missing != nil {
		t.Skip("the program was not built: see the top")
	}
	db := storetest.Start(t)
	model := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(model.Close)
	for kind, all := range map[string]map[string]service{"compose": composed(t), "kubernetes": manifests(t)} {
		t.Run(kind, func(t *testing.T) {
			c := &team{t: t, dir: t.TempDir(), name: db.Database(t)}
			c.env = []string{"MCP_PRUNER_STORE=" + c.name}
			c.certify("deployed")
			self, err := os.Executable()
			require.NoError(t, err)
			c.put(c.file("servers.json"), fmt.Sprintf(`{"mcpServers":{"far":{"command":%q,"args":["fake-server","team"]}}}`, self))
			saves(t, strings.TrimSpace(c.run("keys", "add", "alice")), c.deploy("gateway", all["gateway"]), c.deploy("proxy", all["proxy"], "--upstream", model.URL))
		})
	}
}

// deploy starts a service on this machine and returns its address once it is ready.
func (c *team) deploy(name string, s service, more ...string) (url string) {
	t := c.t
	t.Helper()
	require.NotEmpty(t, s.args, name)
	port := freePort(t)
	here := map[string]string{"0.0.0.0": "127.0.0.1", "8005": fmt.Sprint(port), "8787": fmt.Sprint(port), "/config/servers.json": c.file("servers.json")}
	cmd := exec.Command(pruner, s.args...)
	for i, arg := range cmd.Args {
		if to := here[arg]; to != "" {
			cmd.Args[i] = to
		}
	}
	cmd.Args, cmd.Dir, cmd.Env = append(cmd.Args, more...), c.dir, []string{"PATH=/usr/bin:/bin", "HOME=" + c.dir}
	places := map[string]string{"MCP_PRUNER_STORE": c.name, "MCP_PRUNER_TLS_CERT": c.file("tls.crt"), "MCP_PRUNER_TLS_KEY": c.file("tls.key"),
		"MCP_PRUNER_METRICS": "0", "MCP_PRUNER_METRICS_TOKEN_FILE": "", "XDG_STATE_HOME": c.file(name)}
	for variable, value := range s.env {
		if place, moved := places[variable]; moved {
			value = place
		}
		cmd.Env = append(cmd.Env, variable+"="+value)
	}
	log, err := os.Create(c.file(name + ".log"))
	require.NoError(t, err)
	cmd.Stderr = log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = log.Close()
	})
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	url = fmt.Sprintf("https://127.0.0.1:%d", port)
	require.Eventually(t, func() bool {
		response, err := client.Get(url + "/readyz")
		if err != nil {
			return false
		}
		defer func() { _ = response.Body.Close() }()
		var said struct{ OK bool }
		raw, _ := io.ReadAll(response.Body)
		return json.Unmarshal(raw, &said) == nil && response.StatusCode == http.StatusOK
	}, time.Minute, 50*time.Millisecond, "%s: %s", name, read(t, log.Name()))
	return url
}
