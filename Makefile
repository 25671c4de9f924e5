# Everything runs from here. What is set with ?= can be given: make prop CHECKS=1000
CHECKS   ?= 100000
FUZZTIME ?= 30s
COUNT    ?= 1
SEED     ?=
SCRIPTS  ?= 1000
FIRST    ?= 0

# The folders that hold a module, the root first. Nested modules keep what is
# heavy away from the library's users.
MODULES  := . $(patsubst %/go.mod,%,$(wildcard internal/*/go.mod examples/*/go.mod))
EXAMPLES := $(filter examples/%,$(MODULES))

# The linter is pinned by internal/tools and works in every module.
STATICCHECK := go tool -modfile=$(CURDIR)/internal/tools/go.mod staticcheck

# The packages of the root whose tests reach the package $(1), and so know its flags.
testing = go list -test -f '{{if eq .Name "main"}}{{.ImportPath}} {{.Deps}}{{end}}' ./... | \
	grep -F '$(1)' | sed 's/\.test .*//'

.PHONY: test lint prop fuzz bench conformance golden modules check

test: ## all tests of the root and of the examples, with the race detector
	go test -race -shuffle=on ./...
	@set -e; for m in $(EXAMPLES); do echo "== $$m"; (cd $$m && go test -race ./...); done

lint: ## format, vet, staticcheck and go.mod of every module
	@files=$$(gofmt -l .); test -z "$$files" || { echo "not formatted: $$files"; exit 1; }
	@set -e; for m in $(filter-out internal/tools,$(MODULES)); do echo "== $$m"; \
		(cd $$m && go vet ./... && $(STATICCHECK) ./...); done
	@set -e; for m in $(MODULES); do (cd $$m && go mod tidy -diff); done

prop: ## the property tests, with many more cases
	go test -timeout=2h $$($(call testing,pgregory.net/rapid)) -rapid.checks=$(CHECKS)

fuzz: ## every fuzz target for FUZZTIME
	@set -e; for p in $$(go list ./...); do for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
		echo "== $$p $$f"; go test -run='^$$' -fuzz="^$$f\$$" -fuzztime=$(FUZZTIME) $$p; done; done

bench: ## every benchmark
	go test -run='^$$' -bench=. -benchmem -count=$(COUNT) ./...

conformance: ## SCRIPTS generated scripts for the real controllers and for ours; FIRST=n SCRIPTS=1 plays one again
	@cd internal/conformance && go test -c -o conformance.test . && \
		./conformance.test -test.timeout=0 -test.run='^TestLongRun$$' $(if $(SEED),-seed $(SEED)) -scripts $(SCRIPTS) -first $(FIRST)

golden: ## rewrite the expected outputs of the stories: explain each changed line
	go test $$($(call testing,github.com/batchplan/batchplan/internal/golden)) -update

modules: ## the modules, and that the root requires three others and nothing more
	@echo $(MODULES); go list -m all; test $$(go list -m all | wc -l) -eq 4

check: ## all that CI runs
	bash .ci/run
