// Package deploy checks the files of docs/deploy by the schemas of the programs that read them.
package deploy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const folder = "../../../docs/deploy/"

// checkManifest reads a manifest as Kubernetes' own types, and fails for a field that they do not have.
func checkManifest(text []byte) error {
	var kind meta.TypeMeta
	if err := yaml.Unmarshal(text, &kind); err != nil {
		return err
	}
	switch kind.APIVersion + " " + kind.Kind {
	case "apps/v1 Deployment":
		var d apps.Deployment
		if err := strict(text, &d); err != nil {
			return err
		}
		return checkNames(d.Spec.Template.Spec)
	case "v1 Service":
		return strict(text, new(core.Service))
	}
	return fmt.Errorf("%s %s is not known: add its type", kind.APIVersion, kind.Kind)
}

// strict reads YAML as Kubernetes' API does with strict validation: the case of names counts.
func strict(text []byte, into any) error {
	text, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	unknown, err := json.UnmarshalStrict(text, into)
	return errors.Join(append(unknown, err)...)
}

// checkNames fails if a pod names a volume or a port that it does not have, which the types alone allow.
func checkNames(pod core.PodSpec) error {
	has := map[string]bool{}
	for _, v := range pod.Volumes {
		has["volume "+v.Name] = true
	}
	for _, c := range pod.Containers {
		wants := []string{}
		for _, p := range c.Ports {
			has["port "+p.Name] = true
		}
		for _, m := range c.VolumeMounts {
			wants = append(wants, "volume "+m.Name)
		}
		for _, p := range []*core.Probe{c.ReadinessProbe, c.LivenessProbe} {
			wants = append(wants, "port "+p.HTTPGet.Port.StrVal)
		}
		for _, name := range wants {
			if !has[name] {
				return fmt.Errorf("container %s: there is no %s", c.Name, name)
			}
		}
	}
	return nil
}

func checkCompose(ctx context.Context, text []byte) error {
	_, err := loader.LoadWithContext(ctx, compose.ConfigDetails{WorkingDir: ".", ConfigFiles: []compose.ConfigFile{{Filename: "compose.yaml", Content: text}}},
		func(o *loader.Options) { o.SetProjectName("pruner", true) })
	return err
}

// misspelt fails the test unless check refuses the text with each of the changes.
func misspelt(t *testing.T, text string, changes map[string]string, check func([]byte) error) {
	t.Helper()
	for from, to := range changes {
		require.Contains(t, text, from)
		assert.Error(t, check([]byte(strings.Replace(text, from, to, 1))), "%s in place of %s", to, from)
	}
}

func TestManifests(t *testing.T) {
	files, err := filepath.Glob(folder + "kubernetes/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, manifest := range strings.Split(string(text), "\n---\n") {
			require.NoError(t, checkManifest([]byte(manifest)), file)
			changes := map[string]string{"targetPort:": "targetport:", "kind: Service": "kind: Services"}
			if strings.Contains(manifest, "kind: Deployment") {
				changes = map[string]string{
					"replicas:": "replica:", "readOnlyRootFilesystem:": "readOnlyRootFS:", "containerPort: 8": "containerPort: x",
					"port: https, scheme": "port: http, scheme", "- {name: tmp, mountPath": "- {name: temp, mountPath",
				}
			}
			misspelt(t, manifest, changes, checkManifest)
		}
	}
}

func TestCompose(t *testing.T) {
	text, err := os.ReadFile(folder + "compose.yaml")
	require.NoError(t, err)
	check := func(text []byte) error { return checkCompose(t.Context(), text) }
	require.NoError(t, check(text))
	misspelt(t, string(text), map[string]string{
		"healthcheck: {test:": "healthcheck: {tests:", "stop_grace_period:": "stop_grace:", "restart: unless-stopped": "restarts: unless-stopped",
		"service_healthy": "service_is_healthy", "secrets: [db]": "secrets: [database]", "  db:\n    image": "  database:\n    image",
	}, check)
}

// TestGatewaysAskTheProxy: the files of other gateways name the proxy as docs/TEAMS.md starts it, and send requests on as they are while
// it is away.
func TestGatewaysAskTheProxy(t *testing.T) {
	var litellm struct {
		Guardrails []struct {
			Params struct {
				Guardrail, Mode string
				DefaultOn       bool   `json:"default_on"`
				Fallback        string `json:"unreachable_fallback"`
			} `json:"litellm_params"`
		}
	}
	read(t, "litellm.yaml", &litellm)
	require.Len(t, litellm.Guardrails, 1)
	asks := litellm.Guardrails[0].Params
	assert.Equal(t, []any{"headroom", "pre_call", true, "fail_open"}, []any{asks.Guardrail, asks.Mode, asks.DefaultOn, asks.Fallback})

	var agentgateway struct {
		LLM struct {
			Models []struct {
				Guardrails struct {
					Request []struct {
						Webhook struct {
							Target                           struct{ Host string }
							MessageFormat, Path, FailureMode string
							MinSizeBytes                     int
						}
					}
				}
			}
		}
	}
	read(t, "agentgateway.yaml", &agentgateway)
	hook := agentgateway.LLM.Models[0].Guardrails.Request[0].Webhook
	assert.Equal(t, []any{"127.0.0.1:8787", "raw", "$PRUNER_COMPRESS", "failOpen", 16 << 10}, []any{hook.Target.Host, hook.MessageFormat, hook.Path, hook.FailureMode, hook.MinSizeBytes})
}

// read reads a file of the folder.
func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(folder + file)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into))
}
