package calls

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// tables returns the makers of records and configuration files in CSV, JSON, YAML, TOML, XML, SQL and other formats.
func tables() map[string]maker {
	return map[string]maker{
		"data/orders.csv":        orders,
		"data/measurements.tsv":  measurements,
		"conf/services.json":     services,
		"data/users.json":        users,
		"deploy/shop.yaml":       manifests,
		"ci/release.yml":         workflow,
		"conf/uploader.toml":     uploader,
		"pom.xml":                pom,
		"db/schema.sql":          schema,
		"db/seed.sql":            seed,
		"conf/openapi.yaml":      openapi,
		"conf/nginx.conf":        nginx,
		"data/translations.json": translations,
	}
}

func orders(r *rand.Rand) string {
	given := map[int]string{1: "order_id,date,country,customer,items,amount,status", 444: "10442,2026-02-11,DE,Orsolya Varga,2,89.90,held for customs", 3210: "13208,2026-02-27,US,Ray Ito,41,99871.50,paid"}
	return with(5001, given, func(i int) string {
		return fmt.Sprintf("%d,2026-02-%02d,%s,%s %s,%d,%d.%02d,%s", 9998+i, 1+r.IntN(28), pick(r, "JP", "DE", "US", "FR"), pick(r, "Ann", "Bo", "Cy", "Di"), pick(r, "Moss", "Hale", "Ruiz", "Kato"),
			1+r.IntN(9), r.IntN(900), r.IntN(100), pick(r, "paid", "sent", "open"))
	})
}

func measurements(r *rand.Rand) string {
	given := map[int]string{1: "time\tsensor\ttemperature\thumidity", 1717: "2026-03-02T14:18\tcellar-2\t61.4\t12"}
	return with(2400, given, func(i int) string {
		return fmt.Sprintf("2026-03-02T%02d:%02d\t%s-%d\t%d.%d\t%d", i/100, i%60, pick(r, "cellar", "attic", "lab"), 1+r.IntN(4), 17+r.IntN(6), r.IntN(10), 35+r.IntN(20))
	})
}

func services(r *rand.Rand) string {
	entries := make([]string, 40)
	for i := range entries {
		entries[i] = fmt.Sprintf(`    "service-%d": {
      "image": "registry.example/%s-%s:%d.%d",
      "replicas": %d,
      "resources": {
        "limits": {
          "cpu": "%dm",
          "memory": "%dMi"
        },
        "requests": {
          "cpu": "%dm",
          "memory": "%dMi"
        }
      },
      "env": {
        "LOG_LEVEL": "info",
        "REGION": "eu-%d"
      }
    }`, i+1, noun(r), noun(r), r.IntN(9), r.IntN(9), 1+r.IntN(6), 100*(1+r.IntN(9)), 64*(i+1), 50*(1+r.IntN(9)), 32*(i+1), 1+r.IntN(3))
	}
	return "{\n  \"version\": 3,\n  \"services\": {\n" + strings.Join(entries, ",\n") + "\n  }\n}\n"
}

func users(r *rand.Rand) string {
	entries := make([]string, 600)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"id":%d,"name":"%s %s","email":"user%d@mail.example","tags":["%s","%s"],"key":"%s"}`, i+1, pick(r, "Ann", "Bo", "Cy"), pick(r, "Moss", "Hale", "Ruiz"), i+1, noun(r), noun(r), base64(r, 40))
	}
	return `{"page":1,"users":[` + strings.Join(entries, ",") + "]}\n"
}

func manifests(r *rand.Rand) string {
	var b strings.Builder
	for i, app := range []string{"basket", "checkout", "search", "mail", "stock", "billing", "login", "images", "reports", "webhooks", "exports", "prices"} {
		if i > 0 {
			b.WriteString("---\n")
		}
		fmt.Fprintf(&b, `apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
  labels:
    app: %[1]s
    team: %[2]s
spec:
  replicas: %[3]d
  selector:
    matchLabels:
      app: %[1]s
  template:
    metadata:
      labels:
        app: %[1]s
    spec:
      containers:
        - name: %[1]s
          image: registry.example/%[1]s:%[4]d.%[5]d
          ports:
            - containerPort: %[6]d
          readinessProbe:
            httpGet:
              path: /healthz
              port: %[6]d
            periodSeconds: %[7]d
          resources:
            limits:
              cpu: %[8]dm
              memory: %[9]dMi
          volumeMounts:
            - name: scratch
              mountPath: /scratch/%[1]s
      volumes:
        - name: scratch
          emptyDir: {}
`, app, pick(r, "red", "blue", "green"), 2+i*5%9, r.IntN(4), r.IntN(30), 8000+i, 5+r.IntN(20), 100*(1+r.IntN(9)), 64*(1+r.IntN(16)))
	}
	return b.String()
}

func workflow(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("name: ci\non: [push]\njobs:\n")
	for i, job := range []string{"lint", "unit", "browser", "integration", "release", "docs", "audit", "nightly"} {
		fmt.Fprintf(&b, "  %s:\n    runs-on: ubuntu-24.04\n    timeout-minutes: %d\n    steps:\n      - uses: actions/checkout@v5\n      - uses: actions/setup-node@v5\n        with:\n          node-version: %d\n          cache: npm\n",
			job, 10+r.IntN(30), 16+i)
		for range 9 {
			fmt.Fprintf(&b, "      - name: %s\n        run: npm run %s:%s\n        env:\n          MODE: %s\n", name(r), job, noun(r), noun(r))
		}
	}
	return b.String()
}

func uploader(r *rand.Rand) string {
	var b strings.Builder
	for _, section := range []string{"server", "database", "cache", "uploader", "uploader.retry", "uploader.chunks", "mailer", "search", "metrics", "tracing", "sessions", "images", "exports"} {
		fmt.Fprintf(&b, "[%s]\n", section)
		if section == "uploader.retry" {
			b.WriteString("attempts = 4\nbackoff_ms = 750\njitter = true\n")
		}
		for i := range 14 {
			fmt.Fprintf(&b, "%s_%s_%d = %d # %s of each %s\n", noun(r), noun(r), i, r.IntN(5000), pick(r, "limit", "size", "age"), noun(r))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func pom(r *rand.Rand) string {
	dependency := func(group, artifact, version string) string {
		return fmt.Sprintf("    <dependency>\n      <groupId>%s</groupId>\n      <artifactId>%s</artifactId>\n      <version>%s</version>\n    </dependency>\n", group, artifact, version)
	}
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\"?>\n<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <artifactId>shop</artifactId>\n  <version>9.1.0</version>\n  <dependencies>\n")
	for i := range 70 {
		if i == 44 {
			b.WriteString(dependency("com.fasterxml.jackson.core", "jackson-databind", "2.17.3"))
		}
		b.WriteString(dependency("org."+noun(r), noun(r)+"-"+noun(r), fmt.Sprintf("%d.%d.%d", r.IntN(6), r.IntN(20), r.IntN(9))))
	}
	return b.String() + "  </dependencies>\n</project>\n"
}

func schema(r *rand.Rand) string {
	var b strings.Builder
	for i, table := range append([]string{"invoices"}, nouns...) {
		if i == 9 {
			b.WriteString("CREATE UNIQUE INDEX ledger_entries_by_ref ON ledger_entries (external_ref) WHERE voided_at IS NULL;\n\n")
		}
		fmt.Fprintf(&b, "CREATE TABLE %s (\n  id bigint PRIMARY KEY,\n", table)
		if table == "invoices" {
			b.WriteString("  customer_id bigint NOT NULL REFERENCES customer (id),\n  due_on date NOT NULL,\n  vat_rate numeric(4,2) NOT NULL,\n  paid_at timestamptz,\n")
		}
		for j := range 14 {
			fmt.Fprintf(&b, "  %s_%s_%d %s,\n", noun(r), noun(r), j, pick(r, "text", "integer NOT NULL", "timestamptz", "boolean DEFAULT false"))
		}
		fmt.Fprintf(&b, "  created_at timestamptz NOT NULL DEFAULT now()\n);\n\nCREATE INDEX %s_by_created ON %s (created_at);\n\n", table, table)
	}
	return b.String()
}

func seed(r *rand.Rand) string {
	given := map[int]string{612: "INSERT INTO feature_flag (name, enabled, rollout) VALUES ('new_checkout', true, 25);"}
	return with(900, given, func(i int) string {
		return fmt.Sprintf("INSERT INTO %s (id, title, price) VALUES (%d, '%s %s', %d.%02d);", noun(r), i, name(r), noun(r), r.IntN(900), r.IntN(100))
	})
}

func openapi(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("openapi: 3.1.0\ninfo:\n  title: Shop\n  version: 4.0.0\npaths:\n")
	for i, n := range nouns {
		fmt.Fprintf(&b, "  /%ss:\n    get:\n      operationId: list%s\n      parameters:\n        - name: limit\n          in: query\n          schema:\n            type: integer\n            maximum: %d\n      responses:\n        '200':\n          description: Some %ss\n        '429':\n          description: Too many requests\n", n, title(n), 50+i*10, n)
		fmt.Fprintf(&b, "    post:\n      operationId: create%s\n      requestBody:\n        content:\n          application/json:\n            schema:\n              $ref: '#/components/schemas/%s'\n      responses:\n        '201':\n          description: The new %s\n", title(n), title(n), n)
	}
	b.WriteString("components:\n  schemas:\n")
	for _, n := range nouns {
		fmt.Fprintf(&b, "    %s:\n      type: object\n      required: [id]\n      properties:\n        id:\n          type: string\n        %s:\n          type: string\n        total:\n          type: number\n", title(n), noun(r))
	}
	return b.String()
}

func nginx(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("worker_processes auto;\nhttp {\n")
	for i, n := range nouns {
		fmt.Fprintf(&b, "    server {\n        listen 443 ssl;\n        server_name %s.shop.example;\n        ssl_certificate /etc/ssl/%s.pem;\n        location / {\n            proxy_pass http://127.0.0.1:%d;\n            proxy_read_timeout %ds;\n            client_max_body_size %dm;\n        }\n        access_log /var/log/nginx/%s.log;\n    }\n",
			n, n, 8100+i, 10+i*5, 1+r.IntN(50), n)
	}
	return b.String() + "}\n"
}

func translations(r *rand.Rand) string {
	given := map[int]string{1: "{", 640: `  "checkout.voucher.expired": "Dieser Gutschein ist leider abgelaufen.",`, 1100: `  "end": ""` + "\n}"}
	return with(1100, given, func(i int) string {
		return fmt.Sprintf(`  "%s.%s.%d": "%s %s",`, noun(r), noun(r), i, pick(r, "Ihr", "Der", "Ein"), pick(r, "Paket", "Warenkorb", "Preis", "Konto"))
	})
}
