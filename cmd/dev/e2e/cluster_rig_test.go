//go:build e2e

package e2e

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// team is a database, three replicas of the gateway and of the proxy, and nginx before them, as docs/TEAMS.md says. All of it
// listens on loopback only.
type team struct {
	t         *testing.T
	dir       string
	env       []string
	db        *storetest.Server
	name      string // of the database
	gateways  []*replica
	proxies   []*replica
	front     string // of the gateways: nginx with TLS
	model     string // of the proxies: nginx
	keys      map[string]string
	nginxPID  int
	nginxConf string
}

// replica is one process of several that do the same.
type replica struct {
	team *team
	url  string
	args []string
	cmd  *exec.Cmd
	log  string
}

const replicas = 3

// newTeam starts everything. It skips the test where a part is not installed.
func newTeam(t *testing.T, subjects ...string) *team {
	t.Helper()
	return newTeamWith(t, nil, subjects...)
}

// newTeamWith is newTeam with further settings.
func newTeamWith(t *testing.T, env []string, subjects ...string) *team {
	t.Helper()
	if missing != nil {
		t.Skip("the program was not built: see the top")
	}
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx"
	}
	if !exists(nginx) {
		t.Skip("nginx is not installed: apt-get install nginx-light")
	}
	c := &team{t: t, db: storetest.Start(t), dir: t.TempDir(), keys: map[string]string{}}
	c.name = c.db.Empty(t)
	c.env = []string{"PATH=/usr/bin:/bin", "HOME=" + c.dir, "MCP_PRUNER_STORE=" + c.name, "MCP_PRUNER_LOG_LEVEL=debug", "PRUNER_URL=embedded"}
	c.env = append(c.env, env...)
	c.run("store", "migrate")
	for _, s := range subjects {
		c.keys[s] = strings.TrimSpace(c.run("keys", "add", s))
	}
	self, err := os.Executable()
	require.NoError(t, err)
	servers, mapping := c.file("servers.json"), c.file("map.json")
	c.put(servers, fmt.Sprintf(`{"mcpServers":{"far":{"command":%q,"args":["fake-server","team"],"stateless":true}}}`, self))
	c.put(mapping, `{"servers":{"far":{"prune_over":4000}}}`)
	model := httptest.NewServer(http.HandlerFunc(echo))
	t.Cleanup(model.Close)
	for i := range replicas {
		c.gateways = append(c.gateways, c.start("gateway", i, "gateway", "--http", "--mode", "trim", "--map", mapping, servers))
		c.proxies = append(c.proxies, c.start("proxy", i, "proxy", "--upstream", model.URL))
	}
	c.startNginx(nginx)
	return c
}

// echo answers like a model's API with the request that reached it, so that a client sees what was made of its own.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if bytes.Contains(body, []byte("linger")) {
		time.Sleep(500 * time.Millisecond) // the proxy can be killed meanwhile
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

func (c *team) file(name string) string { return filepath.Join(c.dir, name) }

func (c *team) put(path, text string) {
	c.t.Helper()
	require.NoError(c.t, os.WriteFile(path, []byte(text), 0o600))
}

// run runs the program to its end and returns its standard output.
func (c *team) run(args ...string) string {
	c.t.Helper()
	cmd := exec.Command(pruner, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	require.NoError(c.t, err, "%v: %s", args, errors.String())
	return string(out)
}

// start starts a replica that only the reverse proxy of this machine may reach, and waits until it is ready.
func (c *team) start(kind string, n int, args ...string) *replica {
	c.t.Helper()
	port := freePort(c.t)
	r := &replica{
		team: c, url: fmt.Sprintf("http://127.0.0.1:%d", port), log: c.file(fmt.Sprintf("%s-%d.log", kind, n)),
		args: append([]string{args[0], "--port", fmt.Sprint(port), "--behind-proxy", "127.0.0.1", "--auth", "keys"}, args[1:]...),
	}
	r.start()
	c.t.Cleanup(func() { r.end(syscall.SIGKILL) })
	return r
}

func (r *replica) start() {
	t := r.team.t
	t.Helper()
	log, err := os.OpenFile(r.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer func() { _ = log.Close() }()
	r.cmd = exec.Command(pruner, r.args...)
	r.cmd.Dir, r.cmd.Stderr = r.team.dir, log
	r.cmd.Env = append(r.team.env, "XDG_STATE_HOME="+r.log+".state", "MCP_PRUNER_TRACE="+r.log+".jsonl")
	require.NoError(t, r.cmd.Start())
	require.Eventually(t, r.ready, 30*time.Second, 20*time.Millisecond, "%v is not ready", r.args)
}

// end sends a signal that ends a replica, and waits for its end.
func (r *replica) end(with syscall.Signal) {
	_ = r.cmd.Process.Signal(with)
	_ = r.cmd.Wait()
}

func (r *replica) ready() bool {
	response, err := http.Get(r.url + "/readyz")
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// startNginx starts nginx with the server of docs/deploy. Requests go to each replica in turn, which is harder than staying.
func (c *team) startNginx(program string) {
	c.t.Helper()
	page, err := os.ReadFile("../../../docs/deploy/nginx.conf")
	require.NoError(c.t, err)
	c.certify("nginx one")
	gateway, model := freePort(c.t), freePort(c.t)
	c.front, c.model = fmt.Sprintf("https://127.0.0.1:%d", gateway), fmt.Sprintf("https://127.0.0.1:%d", model)
	server := func(name string, port int, of []*replica) string {
		text := string(page)
		for i, old := range []string{"server 10.0.0.11:8005;", "server 10.0.0.12:8005;"} {
			text = strings.Replace(text, old, "server "+of[i].url[len("http://"):]+";", 1)
		}
		text = strings.Replace(text, "keepalive", "server "+of[2].url[len("http://"):]+";\n    keepalive", 1)
		text = regexp.MustCompile(`(?m)^ *hash .*$`).ReplaceAllString(text, "")
		text = strings.NewReplacer("upstream gateway", "upstream "+name, "http://gateway", "http://"+name, "listen 443", fmt.Sprintf("listen 127.0.0.1:%d", port),
			"/etc/nginx/tls", c.dir, `X-Forwarded-User ""`, `X-Forwarded-User "carol@nginx"`).Replace(text)
		return text
	}
	c.nginxConf = c.file("nginx.conf")
	c.put(c.nginxConf, fmt.Sprintf(`user root;
worker_processes 2; pid %[1]s/nginx.pid; error_log %[1]s/nginx.log;
events { worker_connections 1024; }
http { access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
%[2]s
%[3]s
}`, c.dir, server("gateways", gateway, c.gateways), server("proxies", model, c.proxies)))
	if os.Getuid() != 0 {
		c.put(c.nginxConf, strings.TrimPrefix(read(c.t, c.nginxConf), "user root;\n"))
	}
	cmd := exec.Command(program, "-e", c.file("nginx.log"), "-c", c.nginxConf, "-g", "daemon off;")
	require.NoError(c.t, cmd.Start())
	c.nginxPID = cmd.Process.Pid
	c.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	require.Eventually(c.t, func() bool {
		conn, err := tls.Dial("tcp", c.front[len("https://"):], &tls.Config{InsecureSkipVerify: true})
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 20*time.Second, 20*time.Millisecond, "nginx: %s", read(c.t, c.file("nginx.log")))
}

// certify writes a new certificate for nginx.
func (c *team) certify(name string) {
	c.t.Helper()
	require.NoError(c.t, command(time.Minute, c.dir, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
		"-keyout", "tls.key", "-out", "tls.crt", "-days", "2", "-subj", "/CN="+name))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return string(text)
}
