# make            what you would want before a commit
# make demo       a file of this repository, pruned to a question
# make quick      for the everyday loop: style and every test whose code has changed
# make test       the tests of the product without its slowest proofs and without the race detector
# make test-long  the race detector, the whole of the slowest proofs, and the tests of the development programs
# make bench      speed and memory, as ratios within one run (MEASURES="stdio http", BENCHTIME=5s, COUNT=1)
# make bench-compare   the times of the last make bench beside cmd/dev/bench/baseline.txt; bench-baseline makes them the baseline
# make quality    how well the embedded pruner prunes (PRUNEBENCH=folder of cases)
# make train      learn the weights of the ranking (FIXTURES=folder of cases and sessions) and write docs/evidence/LEARNED.md
# make bill       what pruning saves and loses in recorded sessions (FIXTURES=folder), into docs/evidence/BILL.md
# make context-eval   what switching off unused parts of the prefix saves there (FIXTURES=folder), into docs/evidence/PREFIX.md
# make e2e        real clients against the real server (installs them from npm), and the container image
# make e2e-newest the newest versions of the clients at their defaults: new models, tool modes and names of tools
# make e2e-all    the same with five more clients and two SDKs
# make pgbouncer  the stores of a team behind a pgbouncer in transaction mode, where one is installed
# make fuzz       each fuzz target for a while (FUZZTIME=10s, or a number of runs: 5000x)
# make soak       the HTTP server under mixed load with faults (SOAK=10m)
# make live       recorded sessions through the running proxy, beside what replay says (FIXTURES=folder)
# make plan       chooses the planner's constants by folds of repositories (FIXTURES=folder)
# make house      lines per room, circles of files, what may only shrink (BEFORE=another checkout for a column of its own)
# make site       docs/ as a site in .cache/site, where hugo is here
# make pictures   the README's, and those of docs/CONTEXT.md and the README's window, drawn by Chromium from a session that is played
# make docs       what is generated from the tables
# make install    mcp-pruner into Go's bin folder
# make dist       everything a release needs, into dist/ (SYSTEMS=linux/amd64 for one)
# make dist-check each registry's own check of what is in dist/; publishes nothing
# make systems    the program and its tests compile for other systems, for processors of 32 bits, and by the oldest Go
# make versions   builds and tests the core with the oldest and the newest Go
# make vulns      known vulnerabilities of what is linked, where the data can be had
# make licenses   what is linked, and under which licences

GO ?= go
# Without symbol tables the program is a third smaller; stack traces keep their names.
STRIP := -ldflags '-s -w'
# What a library does before main is put off: .ci/lean.
LEAN = $$(GO=$(GO) .ci/lean)
FUZZTIME ?= 10s
SOAK ?= 10m
BENCHTIME ?= 5s
COUNT ?= 1
TIMES := .cache/bench/times.txt
FIXTURES ?= ../shared/fixtures
DIST ?= dist
SYSTEMS ?= linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64

.PHONY: all build install demo fmt check-fmt vet lint quick test test-long bench bench-compare bench-baseline quality train bill context-eval e2e e2e-newest e2e-all pgbouncer soak live plan house fuzz docs site pictures dist dist-check licenses systems versions vulns

all: fmt vet lint test

# The development programs (cmd/dev) are a module of their own, with dependencies that the product does not have.
# $(call dev,NAME) builds one, and a recipe then runs it in this folder as .cache/dev/NAME.
dev = $(GO) -C cmd/dev build $(2) -o $(CURDIR)/.cache/dev/ ./$(1)

# jeeves-mcp-pruner is the same program under another name.
build:
	lean=$(LEAN) && $(GO) build $$lean $(STRIP) -o bin/ ./cmd/mcp-pruner
	ln -sf mcp-pruner bin/jeeves-mcp-pruner

install:
	lean=$(LEAN) && $(GO) install $$lean $(STRIP) ./cmd/mcp-pruner
	@bin=$$($(GO) env GOBIN); bin=$${bin:-$$($(GO) env GOPATH)/bin}; ln -sf mcp-pruner "$$bin/jeeves-mcp-pruner"; \
	echo "installed: $$bin/mcp-pruner"; \
	case ":$$PATH:" in \
	*":$$bin:"*) echo "PATH has it. Next: mcp-pruner init" ;; \
	*) echo "PATH does not have $$bin. To start it by its name: export PATH=\"$$bin:\$$PATH\"; now: $$bin/mcp-pruner init" ;; \
	esac

demo:
	@.ci/install -n rg
	$(GO) run ./cmd/mcp-pruner prune -q "what happens when a handler panics" states/pipeline.go

fmt:
	$(GO) fmt ./...

check-fmt:
	@files=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$files" || { echo "not gofmt-ed: $$files"; exit 1; }

vet:
	$(GO) vet ./...
	$(GO) -C cmd/dev vet ./...

systems:
	$(call dev,systems) && .cache/dev/systems windows/amd64 windows/arm64 darwin/arm64 linux/386 linux/arm go$$(sed -n 's/^go //p' go.mod)

lint:
	$(GO) -C cmd/dev build -o $(CURDIR)/.cache/dev/ honnef.co/go/tools/cmd/staticcheck
	.cache/dev/staticcheck -checks 'all,-ST1000' ./...
	cd cmd/dev && $(CURDIR)/.cache/dev/staticcheck -checks 'all,-ST1000' ./...

quick: check-fmt vet test
	$(GO) -C cmd/dev $(TEST) ./...

# SQLite is C translated to Go, and its memory is not Go's, so the detector finds nothing there and takes most of the time of
# a test that stores: docs/decisions/127-where-the-race-detector-looks.md.
RACE := -race -gcflags=modernc.org/sqlite/lib=-race=false
# Packages that compute alone, where the detector finds nothing and takes ten times as long: the tests of the servers and of
# the gateway run them with it.
ALONE := /(pruneclient/lineprune|tools/upstream$$)
# make vet has looked at the tests: -vet=off.
TEST := test -vet=off -timeout 20m

# The README's command. The slowest proofs do less here: they ask testing.Short. What the tests would use and is not
# installed is named; the tests that need it are skipped.
test:
	@.ci/install -n rg psql chromium hugo promtool node
	$(GO) $(TEST) -short ./...

# What make test does not do: the race detector, the whole of the proofs that ask testing.Short, which is no work of goroutines,
# and the development programs. They look at the whole product, of which the cache of tests knows nothing: -count=1. All
# three run even if one fails.
test-long:
	@failed=; set -x; \
	$(GO) $(TEST) -short $(RACE) $$($(GO) list ./... | grep -vE '$(ALONE)') || failed=1; \
	$(GO) $(TEST) $$(grep -rl --include='*_test.go' --exclude-dir=dev 'testing\.Short()' . | xargs -n1 dirname | sort -u) || failed=1; \
	$(GO) -C cmd/dev $(TEST) -count=1 ./... || failed=1; \
	test -z "$$failed"

# The server beside a bare mcp-go server, what a trace costs, and the pruner's speed.
bench: build
	@mkdir -p $(dir $(TIMES)) && rm -f $(TIMES)
	$(call dev,bench) && for i in $$(seq $(COUNT)); do .cache/dev/bench -o $(TIMES) bin/mcp-pruner $(MEASURES) || exit 1; done
	$(GO) test -run '^$$' -bench 'Tracing|Verify' -benchtime $(BENCHTIME) -count $(COUNT) ./cmd/internal/verbs ./fsm/trace/audit >$(TIMES).go || { cat $(TIMES).go; exit 1; }
	$(GO) test -run '^$$' -bench . -cpu 1 -count $(COUNT) ./pruneclient/lineprune >>$(TIMES).go || { cat $(TIMES).go; exit 1; }
	@cat $(TIMES).go && cat $(TIMES).go >>$(TIMES) && rm $(TIMES).go

# benchstat needs about ten runs (COUNT=10) of both to tell a change from noise, on a machine with nothing else to do.
bench-compare:
	$(GO) -C cmd/dev build -o $(CURDIR)/.cache/dev/ golang.org/x/perf/cmd/benchstat
	.cache/dev/benchstat cmd/dev/bench/baseline.txt $(TIMES)

bench-baseline:
	@test -n "$(WHERE)" || { echo 'bench-baseline: say where it was measured: WHERE="2 processors, nothing else to do"'; exit 1; }
	@{ echo "# $$(git log -1 --format='%h of %cs'), $(COUNT) runs: $(WHERE)"; cat $(TIMES); } >cmd/dev/bench/baseline.txt

# Every fuzz target there is, one after the other.
fuzz:
	@for target in $$(grep -rl --include='*_test.go' --exclude-dir=dev '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
		for name in $$(grep -h '^func Fuzz' $$target/*_test.go | sed 's/func \(Fuzz[A-Za-z0-9_]*\).*/\1/'); do \
			echo "fuzz $$target $$name"; \
			$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$target || exit 1; \
		done; \
	done

# Real clients (Claude Code, Codex, the Agent SDK, the MCP Inspector) against the
# real program; installs them from npm once. -v because go test hides what a
# passing package prints, and with it that everything was skipped.
e2e:
	$(GO) -C cmd/dev test -tags e2e -count=1 -timeout 60m -v ./e2e/...

e2e-newest:
	E2E_REQUIRED=1 E2E_NEWEST=1 $(GO) -C cmd/dev test -tags e2e -count=1 -timeout 40m -v -run 'TestClientsAtTheirDefaults' ./e2e

# With the clients that take long to install, and the programs of docs/clients/sdks.md.
e2e-all:
	$(GO) -C cmd/dev test -tags 'e2e all' -count=1 -timeout 60m -v ./e2e/...

pgbouncer:
	PGBOUNCER_TESTS=1 $(GO) test -count=1 -run Pgbouncer ./states/store ./pruneclient/recovery

# docs/STATES.md and the drawings of the machines are made from the tables in fsm/.
docs:
	$(call dev,machines) && .cache/dev/machines fsm/trace/audit/machines
	$(GO) run ./cmd/mcp-pruner fsm --format docs > docs/STATES.md.new && mv docs/STATES.md.new docs/STATES.md

# docs/ as a site, by Hugo 0.111 or later. A test builds it and follows its links.
site:
	@if command -v hugo >/dev/null; then hugo --source site --destination ../.cache/site --cleanDestinationDir; \
	else echo "hugo is not here: the site is not built"; fi

pictures: build
	$(call dev,pictures) && .cache/dev/pictures bin/mcp-pruner

# How well the embedded pruner prunes: PRUNEBENCH is a folder of cases.
quality:
	$(call dev,quality,-tags tuning) && .cache/dev/quality -data "$(PRUNEBENCH)" -o docs/evidence/QUALITY.md
	$(GO) test ./tools/tooltest/stated -update

# The learned ranking's weights, and how good they are on folds they have not seen.
train:
	$(call dev,train) && .cache/dev/train -data "$(FIXTURES)" -o pruneclient/lineprune/learned -report docs/evidence/LEARNED.md
	$(GO) test ./tools/tooltest/stated -update

# The HTTP server under mixed load with faults, and what that leaves behind.
soak: build
	$(call dev,soak) && .cache/dev/soak -for $(SOAK) bin/mcp-pruner

# Recorded sessions turn by turn through the running proxy, billed from the bytes that it sends, beside what replay says.
# GATEWAY=URL: the same through a real gateway, which asks a proxy of yours and has http://127.0.0.1:9797 as its model's API.
live: build
ifdef GATEWAY
	$(call dev,live) && for set in claude-code-3 codex-2 opencode-2; do .cache/dev/live -data "$(FIXTURES)" -set $$set -gateway "$(GATEWAY)" || exit 1; done
else
	$(call dev,live) && for set in claude-code claude-code-2 claude-code-3 codex codex-2 codex-3 opencode opencode-2 swe-bench mini-swe; do \
		echo "$$set:" && .cache/dev/live -data "$(FIXTURES)" -set $$set bin/mcp-pruner || exit 1; done && \
	.cache/dev/live -data "$(FIXTURES)" -edits bin/mcp-pruner && \
	for set in claude-code-3 codex-2 opencode-2; do echo "$$set behind gateways:" && .cache/dev/live -data "$(FIXTURES)" -set $$set -behind bin/mcp-pruner || exit 1; done
endif

# The planner's constants, chosen on recorded sessions, each repository judged by those chosen without it.
plan:
	$(call dev,plan) && .cache/dev/plan -data "$(FIXTURES)"

# How the product is built, as a table; BEFORE is another checkout.
house:
	$(call dev,house) && .cache/dev/house $(if $(BEFORE),-before "$(BEFORE)")

# The same commit gives the same bytes: docs/RELEASE.md.
dist:
	rm -rf $(DIST)
	CGO_ENABLED=0 $(call dev,dist,-trimpath) && .cache/dev/dist -o $(DIST) -systems $(SYSTEMS)

# Nothing is published: npm's dry run packs and checks, MCPB's makers check the manifest, server.json is checked by its schema.
MCPB = npx --yes @anthropic-ai/mcpb@$$(sed -n 's/.*"@anthropic-ai.mcpb": "\(.*\)".*/\1/p' cmd/dev/e2e/clients/validators/package.json)
dist-check:
	@set -e; for file in $(abspath $(DIST))/mcp-pruner-*.tgz; do echo "npm: $${file##*/}"; npm publish --dry-run --loglevel error --access public "$$file"; done; \
	unpacked=$$(mktemp -d); trap 'rm -r "$$unpacked"' EXIT; for file in $(DIST)/mcp-pruner_*.mcpb; do echo "mcpb: $$file"; \
	$(MCPB) unpack "$$file" "$$unpacked/$${file##*/}" >/dev/null; $(MCPB) validate "$$unpacked/$${file##*/}/manifest.json"; done
	$(GO) -C cmd/dev test -tags e2e -count=1 -v -run TestRegistryEntryIsValid ./e2e

licenses:
	@$(call dev,dist) && .cache/dev/dist -licenses

vulns:
	@.ci/vulns

versions:
	@.ci/versions

# What pruning and clearing would have saved in the sessions of the fixtures.
bill:
	@folds=$$(mktemp -d) && trap 'rm -r "$$folds"' EXIT && \
	$(call dev,train) && .cache/dev/train -data "$(FIXTURES)" -folds "$$folds" && \
	$(call dev,bill) && .cache/dev/bill -data "$(FIXTURES)" -weights "$$folds" -o docs/evidence/BILL.md -readme README.md
	$(GO) test ./tools/tooltest/stated -update

# What earlier sessions of a project did not use, switched off in its later ones.
context-eval:
	$(call dev,bill) && .cache/dev/bill -data "$(FIXTURES)" -context docs/evidence/PREFIX.md
	$(GO) test ./tools/tooltest/stated -update
