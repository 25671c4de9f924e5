# Everything runs from here. Variables set with ?= can be given: make prop CHECKS=1000
CHECKS   ?= 100000
FUZZTIME ?= 30s
COUNT    ?= 1
SEED     ?=
SCRIPTS  ?= 1000
ROUNDS   ?= 100000
FIRST    ?= 0
KILLS    ?= 1000
CONTAIN  ?= auto
MUTANTS  ?= 0
MATCH    ?=
PACKAGES ?= job job/jobapply cronjob cronjob/cronjobapply backoff schedule expectations internal/indexset
CASES    ?= 20000
JOBS     ?= 500
PODS     ?= 10
INDEXES  ?= 5000
SIZE     ?= small
MEMORY   ?= 4096
RUNNING  ?= 1000
FINISH   ?= 200
PROFILES ?=

# The folders of all modules, the root first. Nested modules keep heavy dependencies
# away from the library's users.
MODULES  := . $(patsubst %/go.mod,%,$(wildcard internal/*/go.mod examples/*/go.mod))
EXAMPLES := $(filter examples/%,$(MODULES))

# The linter is pinned by internal/tools and works in every module.
STATICCHECK := go tool -modfile=$(CURDIR)/internal/tools/go.mod staticcheck

# The packages of the root whose tests reach the package $(1), and so know its flags.
reaching = go list -test -f '{{$$p := .}}{{if eq .Name "main"}}{{range .Deps}}{{if eq . "$(1)"}}{{$$p.ImportPath}}{{end}}{{end}}{{end}}' ./... | sed -n 's/\.test$$//p'

# Runs the tests of those packages with the flags $(2). It fails when none is found.
running = @set -e; found=$$($(call reaching,$(1))); test -n "$$found" || { echo "no tests reach $(1)"; exit 1; }; \
	go test -timeout=2h $$found $(2)

RAPID := pgregory.net/rapid

.PHONY: test lint prop fuzz bench conformance validation mutants kills systems rounds cluster costs putback golden explore modules check

test: ## all tests of the root, the examples and the tools, with the race detector; SEED=1 for the same cases in the same order
ifeq ($(SEED),)
	go test -race -shuffle=on ./...
else
	@set -e; drawing=$$($(call reaching,$(RAPID))); test -n "$$drawing"; \
		go test -race -shuffle=$(SEED) $$drawing -rapid.seed=$(SEED); \
		go test -race -shuffle=$(SEED) $$(go list ./... | grep -vxF "$$drawing")
endif
	@set -e; for m in $(EXAMPLES) internal/tools; do echo "== $$m"; (cd $$m && go test -race ./...); done

lint: ## format, vet, staticcheck and go.mod of every module
	@files=$$(gofmt -l .); test -z "$$files" || { echo "not formatted: $$files"; exit 1; }
	@set -e; for m in $(MODULES); do echo "== $$m"; \
		(cd $$m && go vet ./... && $(STATICCHECK) ./...); done
	@set -e; for m in $(MODULES); do (cd $$m && go mod tidy -diff); done

prop: ## the property tests, with many more cases; SEED=1 for the same ones each time
	$(call running,$(RAPID),-rapid.checks=$(CHECKS) $(if $(SEED),-rapid.seed=$(SEED)))

fuzz: ## every fuzz target for FUZZTIME
	@set -e; all=$$(go list ./...); for p in $$all; do \
		list=$$(go test -list '^Fuzz' $$p) || { echo "$$list"; exit 1; }; \
		for f in $$(echo "$$list" | grep '^Fuzz' || true); do \
		echo "== $$p $$f"; go test -run='^$$' -fuzz="^$$f\$$" -fuzztime=$(FUZZTIME) $$p; done; done

bench: ## every benchmark
	go test -run='^$$' -bench=. -benchmem -count=$(COUNT) ./...

conformance: ## SCRIPTS generated scripts for the real controllers and for ours; FIRST=n SCRIPTS=1 plays one again
	@cd internal/conformance && go test -c -o conformance.test . && \
		./conformance.test -test.timeout=0 -test.run='^TestLongRun$$' $(if $(SEED),-seed $(SEED)) -scripts $(SCRIPTS) -first $(FIRST)

mutants: ## find small changes of the code that no test notices; SEED=1 MUTANTS=500 for a sample of them
	@go run -C internal/tools ./mutants -root $(CURDIR) -equivalents mutants/equivalents.txt $(if $(SEED),-seed $(SEED)) $(if $(QUICK),-quick) \
		-n $(MUTANTS) -match '$(MATCH)' $(PACKAGES)

kills: ## kill the local runner and its supervisors KILLS times; CONTAIN=cgroup for one way to end processes
	go -C examples/local test -count=1 -timeout=2h -v -run='^TestManyKills$$' . $(if $(SEED),-seed $(SEED)) -kills $(KILLS) -contain $(CONTAIN)

systems: ## check that the local runner and its tests compile for each system
	@set -e; for os in linux darwin windows; do echo "== $$os"; GOOS=$$os CGO_ENABLED=0 go -C examples/local vet ./...; done

validation: ## CASES random specs and statuses of each kind for the API server's validation and for ours
	@cd internal/conformance && go test -timeout=0 ./validation $(if $(SEED),-seed $(SEED)) -cases $(CASES) -first $(FIRST)

rounds: ## ROUNDS single rounds of the real controllers and of ours, from the same snapshots; FIRST=n ROUNDS=1 shows one
	@cd internal/conformance && go run ./rounds/build rounds/rounds.test && cd rounds && \
		./rounds.test -test.timeout=0 -test.run='^TestRounds$$' -seed $(if $(SEED),$(SEED),1) -rounds $(ROUNDS) -first $(FIRST)

cluster: ## end-to-end tests on a real API server, with JOBS jobs of PODS pods at once and one of INDEXES; SEED=7 for other faults
	cd internal/conformance && go test -count=1 -timeout=2h -v -run='^TestEndToEnd$$' ./e2e $(if $(SEED),-seed $(SEED)) \
		-jobs $(JOBS) -pods $(PODS) -indexes $(INDEXES)

costs: ## requests, processor time and memory beside the controllers of Kubernetes: of JOBS jobs, RUNNING pods that run and FINISH that end, COUNT times
	cd internal/conformance && go test -count=1 -timeout=5h -v -run='^Test(RequestsOnServer|Load)$$' ./costs -server \
		-jobs $(JOBS) -pods $(RUNNING) -finishing $(FINISH) -repeat $(COUNT) $(if $(PROFILES),-profiles $(abspath $(PROFILES)))

putback: ## put known bugs back, one at a time, and say which generated case shows each; MATCH=sidecar for one of them
	@cd internal/conformance && go run ./putback $(if $(SEED),-seed $(SEED)) -match '$(MATCH)'

golden: ## rewrite the expected outputs of the stories: explain each changed line
	$(call running,github.com/batchplan/batchplan/internal/golden,-update)

explore: ## every interleaving of small worlds: SIZE=large for hours, MATCH=late for some of them, MEMORY=8192 for MiB
	go run ./internal/explore/run -size $(SIZE) -match '$(MATCH)' -memory $(MEMORY)

modules: ## list the modules, and check that the root requires only three others
	@echo $(MODULES); go list -m all; test $$(go list -m all | wc -l) -eq 4

check: ## all that CI runs
	bash .ci/run
