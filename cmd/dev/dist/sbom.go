package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"time"
)

// component is a part of the program in CycloneDX's format.
type component struct {
	Type     string          `json:"type"`
	Ref      string          `json:"bom-ref"`
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	PURL     string          `json:"purl"`
	Licenses []licenseChoice `json:"licenses,omitempty"`
}

type licenseChoice struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

func newComponent(kind, path, version, license string) component {
	purl := "pkg:golang/" + path + "@" + version
	c := component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
	if license != "" {
		c.Licenses = make([]licenseChoice, 1)
		c.Licenses[0].License.ID = license
	}
	return c
}

// sbom writes the software bill of materials in CycloneDX 1.5.
func (r *release) sbom() error {
	list, err := modules(context.Background())
	if err != nil {
		return err
	}
	type metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	sum := sha256.Sum256([]byte("mcp-pruner " + r.commit))
	id := hex.EncodeToString(sum[:]) // becomes a UUID of version 8, whose bits an application may choose (RFC 9562)
	bom := struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Serial     string      `json:"serialNumber"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Serial:   fmt.Sprintf("urn:uuid:%s-%s-8%s-8%s-%s", id[:8], id[8:12], id[13:16], id[17:20], id[20:32]),
		Metadata: metadata{r.when.Format(time.RFC3339), newComponent("application", "mcp-pruner", r.version, "Apache-2.0")},
	}
	bom.Components = append(bom.Components, newComponent("library", "std", runtime.Version()[2:], "BSD-3-Clause"))
	for _, m := range list {
		bom.Components = append(bom.Components, newComponent("library", m.Path, m.Version, m.license))
	}
	text, err := json.MarshalIndent(bom, "", "  ")
	if err != nil {
		return err
	}
	return r.write("mcp-pruner_"+r.version+".cdx.json", append(text, '\n'))
}
