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
MODULE   ?= .
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
NAME     ?=
JUDGES   ?= search,lives
LIVES    ?=
WORLDS   ?= 20000
SUBJECT  ?= ours
SHORT    ?= 2
SEEDS    ?= 200
TRANSITIONS ?= 2000
VERSION  ?=
DRY      ?=

# The folders of all modules, the root first. Nested modules keep heavy dependencies
# away from the library's users.
MODULES  := . $(patsubst %/go.mod,%,$(wildcard kubernetes/go.mod cmd/*/go.mod kit/*/go.mod examples/*/go.mod proof/*/go.mod))
# All but the one whose build takes the controllers of Kubernetes.
NESTED   := $(filter-out . proof/conformance,$(MODULES))

# The linter is pinned by proof/tools and works in every module.
STATICCHECK := go tool -modfile=$(CURDIR)/proof/tools/go.mod staticcheck

# The packages among $(2), all of the module by default, whose tests reach the package $(1), and so know its flags.
reaching = go list -test -f '{{$$p := .}}{{if eq .Name "main"}}{{range .Deps}}{{if eq . "$(1)"}}{{$$p.ImportPath}}{{end}}{{end}}{{end}}' $(or $(2),./...) | sed -n 's/\.test$$//p'

# Runs the tests of those packages with the flags $(2). It fails when none is found.
running = @set -e; found=$$($(call reaching,$(1))); test -n "$$found" || { echo "no tests reach $(1)"; exit 1; }; \
	go test -timeout=2h $$found $(2)

RAPID := pgregory.net/rapid

# The packages of the root that start goroutines or serve those of others. The planners have none.
RACING := ./expectations ./internal/step ./job/jobapply ./cronjob/cronjobapply ./kit/... ./proof/explore

.PHONY: test nested oldest newest outside release release-notes int32 stored seeds race lint prop fuzz bench conformance validation mutants kills root claims systems rounds cluster costs traces planted worlds lives golden explore others modules result check axe

# Runs go test in a module, and notes which tests were skipped, for the end.
GOTEST := go run -C $(CURDIR)/proof/tools ./gotest -skipped $(CURDIR)/.skipped

# Runs the tests of the packages $(3), all by default, of the module in the folder $(1) with the flags $(2). With SEED
# the order and the cases are the same each time.
define tested
	@set -e; cd $(1); echo "== $(1)"; drawing=; $(if $(SEED),drawing=$$($(call reaching,$(RAPID),$(3)));) \
		test -z "$$drawing" || $(GOTEST) -C $(abspath $(1)) $(2) -shuffle=$(SEED) $$drawing -rapid.seed=$(SEED); \
		others=$$(go list $(or $(3),./...) | grep -vxF "$$drawing" || true); \
		test -z "$$others" || $(GOTEST) -C $(abspath $(1)) $(2) -shuffle=$(or $(SEED),on) $$others

endef

test: ## the tests of the root module: the library, the kits, the proofs; SEED=1 for the same cases in the same order
	@rm -f .skipped
	$(call tested,.)
	@cat .skipped; rm -f .skipped

nested: ## the tests of the other modules, but for those that run the controllers of Kubernetes; SEED=1 as for make test
	@rm -f .skipped
	$(foreach m,$(NESTED),$(call tested,$(m)))
	@cat .skipped; rm -f .skipped

# The case n of a property follows from the sum of its seed and 1 to n, so seeds that are close share most cases.
seeds: ## the tests that draw their cases, of every module, with SEEDS seeds after FIRST
	@set -e; for m in . $(NESTED); do cd $(CURDIR)/$$m; drawing=$$($(call reaching,$(RAPID))); test -n "$$drawing" || continue; \
		for seed in $$(seq $$(($(FIRST) + 1)) $$(($(FIRST) + $(SEEDS)))); do echo "== $$m, seed $$seed"; \
			go test -shuffle=$$seed $$drawing -rapid.seed=$${seed}000003; done; done

oldest: ## the library and the adapter compile with the oldest Go that their go.mod names
	@set -e; for m in . kubernetes; do go=$$(cd $$m && go list -m -f '{{.GoVersion}}'); echo "== $$m, go$$go"; \
		(cd $$m && GOTOOLCHAIN=go$$go go build ./...); done

newest: ## the tests of the adapter with the newest libraries of Kubernetes; make nested runs them with the oldest
	cd kubernetes && go mod tidy -modfile=newest.mod -diff && go vet -modfile=newest.mod ./... && go test -modfile=newest.mod -shuffle=$(or $(SEED),on) ./...

outside: ## what others do with the modules: programs that require them by version, with the oldest and the newest libraries
	go run -C proof/tools ./outside -root $(CURDIR)

release: ## check and tag VERSION of every published module, locally; DRY=1 tries it in a copy
	go run -C proof/tools ./release -root $(CURDIR) $(if $(VERSION),-version $(VERSION)) $(if $(DRY),-dry,-check 'make check')

release-notes: ## print what the page of a release needs, of the newest version in the changelog or of VERSION
	@go run -C proof/tools ./release -root $(CURDIR) $(if $(VERSION),-version $(VERSION)) -notes

int32: ## everything in the root compiles where an int has 32 bits
	GOARCH=386 CGO_ENABLED=0 go vet ./...

stored: ## stored scripts for the real controllers and for ours, and the answers of the test server
	go -C proof/conformance test -timeout=15m -skip='^TestLongRun$$' ./...

race: ## the tests of what starts goroutines, with the race detector; SEED=1 as for the tests
	$(call tested,.,-race,$(RACING))
	$(foreach m,$(filter-out proof/%,$(NESTED)),$(call tested,$(m),-race))
	@rm -f .skipped

root: ## the tests of the local runner as root, some of which need it; with sudo for another user
	go -C cmd/batchrun test -count=1 $(if $(filter 0,$(shell id -u)),,-exec 'sudo -n') ./...

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

mutants: ## find small changes of the code that no test notices; SEED=1 MUTANTS=300 for a sample of each package, MODULE=kubernetes PACKAGES=convert for a nested module
	@go run -C proof/tools ./mutants -root $(CURDIR)/$(MODULE) -equivalents mutants/equivalents.txt $(if $(SEED),-seed $(SEED)) $(if $(QUICK),-quick) \
		-n $(MUTANTS) -match '$(MATCH)' $(PACKAGES)

kills: ## kill the local runner and its supervisors KILLS times; CONTAIN=cgroup for one way to end processes
	go -C cmd/batchrun test -count=1 -timeout=2h -v -run='^TestManyKills$$' . $(if $(SEED),-seed $(SEED)) -kills $(KILLS) -contain $(CONTAIN)

claims: ## kill the workers of examples/database KILLS times, 200 by default, on SQLite and on PostgreSQL
	go -C examples/database test -count=1 -timeout=2h -v -run='^TestKills$$' . $(if $(SEED),-seed $(SEED)) \
		-kills $(if $(filter command environment,$(firstword $(origin KILLS))),$(KILLS),200)

systems: ## check that the local runner and its tests compile for each system
	@set -e; for os in linux darwin windows; do echo "== $$os"; GOOS=$$os CGO_ENABLED=0 go -C cmd/batchrun vet ./...; done

# RELEASE is a release of Kubernetes, with feature gates: 1.33,JobManagedBy=false. Its libraries
# are named in proof/conformance/releases; those of the newest release by the module itself.
# This compiles the tests of the package $(1) with them into $(2).test, and runs the test $(3).
define compared
	@cd proof/conformance && go run ./build $(if $(RELEASE),-release $(RELEASE)) $(1) $(1)/$(2).test && cd $(1) && \
		./$(2).test -test.timeout=0 -test.run='^$(3)$$' $(if $(RELEASE),-release $(RELEASE)) -first $(FIRST)
endef

conformance: ## SCRIPTS generated scripts for the real controllers and for ours; FIRST=n SCRIPTS=1 plays one again; RELEASE=1.33
	$(call compared,.,conformance,TestLongRun) $(if $(SEED),-seed $(SEED)) -scripts $(SCRIPTS)

validation: ## CASES random specs and statuses of each kind for the API server's validation and for ours; RELEASE=1.33 for another release
	$(call compared,./validation,validation,Test.*) $(if $(SEED),-seed $(SEED)) -cases $(CASES)

rounds: ## ROUNDS single rounds of the real controllers and of ours, from the same snapshots; FIRST=n ROUNDS=1 shows one; RELEASE=1.33
	$(call compared,./rounds,rounds,TestRounds) -seed $(if $(SEED),$(SEED),1) -rounds $(ROUNDS)

cluster: ## end-to-end tests on a real API server, with JOBS jobs of PODS pods together and one of INDEXES; SEED=7 for other faults
	cd proof/conformance && go test -count=1 -timeout=2h -v -run='^TestEndToEnd$$' ./e2e $(if $(SEED),-seed $(SEED)) \
		-jobs $(JOBS) -pods $(PODS) -indexes $(INDEXES)

costs: ## requests, processor time and memory beside the controllers of Kubernetes: of JOBS jobs, RUNNING pods that run and FINISH that end, COUNT times
	cd proof/conformance && go test -count=1 -timeout=5h -v -run='^Test(RequestsOnServer|Load)$$' ./costs -server \
		-jobs $(JOBS) -pods $(RUNNING) -finishing $(FINISH) -repeat $(COUNT) $(if $(PROFILES),-profiles $(abspath $(PROFILES)))

traces: ## record both sides on a real API server until each log has TRANSITIONS steps, check the logs, and plant bugs into them; SEED=7
	cd proof/conformance && go test -count=1 -timeout=2h -v -run='^TestTraces$$' ./costs -plant -transitions $(TRANSITIONS) $(if $(SEED),-seed $(SEED))

planted: ## plant known bugs, one at a time, and say which proof finds each; JUDGES=scripts,rounds MATCH='^K' SEED=61 LIVES=300
	go run ./proof/planted -judges $(JUDGES) $(if $(SEED),-seed $(SEED)) $(if $(LIVES),-lives $(LIVES)) -match '$(MATCH)'

golden: ## rewrite the expected outputs of the stories: explain each changed line
	$(call running,github.com/batchplan/batchplan/proof/golden,-update)

lives: ## LIVES random lives of CronJobs with all options together, 20000 by default, through kit/cronjobtest; SEED=7 for the same ones
	go test -count=1 -timeout=4h -v -run='^TestBackend_Kinds$$' ./kit/cronjobtest -rapid.nofailfile \
		-rapid.checks=$(if $(LIVES),$(LIVES),20000) $(if $(SEED),-rapid.seed=$(SEED))

worlds: ## WORLDS random worlds of a CronJob to their ends; SEED=7 for others, FIRST=n WORLDS=1 shows one
	@go test -count=1 -timeout=4h -v -run='^TestWorlds$$' ./proof/cronworlds -seed $(if $(SEED),$(SEED),1) -first $(FIRST) -worlds $(WORLDS)

OTHER_ours         := proof/blackbox
OTHER_kubernetes   := proof/conformance/blackbox
OTHER_broadcastjob := proof/others/kruise/broadcastjob

others: ## LIVES random lives of a controller that others wrote, and SHORT short ones with each fault: SUBJECT=kruise, broadcastjob, velero, jobset, argo, kubernetes or ours; FIRST=n LIVES=1 plays one again
	go -C $(or $(OTHER_$(SUBJECT)),proof/others/$(SUBJECT)) test -count=1 -timeout=4h -v -run='^Test(Search|Jobs)$$' . \
		-seed $(if $(SEED),$(SEED),1) -first $(FIRST) -lives $(if $(LIVES),$(LIVES),200) -short $(SHORT)

explore: ## every interleaving of small worlds: SIZE=large for hours, MATCH=late for some of them, MEMORY=8192 for MiB
	go run ./proof/explore/run -size $(SIZE) -match '$(MATCH)' -memory $(MEMORY)

result: ## write a file of results/ again: NAME=search. Its first line is the command
	@results/again $(NAME)

axe: ## the page of the explainer checked by axe-core, which npm fetches
	@set -e; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; cd "$$dir"; npm pack --silent axe-core@4.14.1 >/dev/null; tar xzf axe-core-*.tgz package/axe.min.js; \
		AXE="$$dir/package/axe.min.js" go -C $(CURDIR)/cmd/batchwhy test -count=1 -v -run='^TestAxe$$' ./page

modules: ## list the modules, and check that the root requires only three others
	@echo $(MODULES); go list -m all; test $$(go list -m all | wc -l) -eq 4

check: ## all that CI runs
	bash .ci/run
