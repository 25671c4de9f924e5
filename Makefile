# Everything runs from here: make NAME VARIABLE=VALUE. With SEED=1 the cases, their order and the faults are the
# same each time. A size beside FIRST plays single cases: make rounds SEED=7 FIRST=31 ROUNDS=1.
SHELL       := bash
.SHELLFLAGS := -euo pipefail -c

# The modules whose tests make nested runs. Those with the controllers of Kubernetes or of others take minutes to build.
NESTED  := examples/database x/cmd x/kubernetes x/blackbox x/proof x/proof/others/ours examples/kubernetes examples/schedulers
MODULES := . $(NESTED) x/proof/conformance

JUDGES ?= search,lives
TOOL  := go tool -modfile=$(CURDIR)/x/proof/go.mod
RAPID := pgregory.net/rapid
seed   = $(if $(SEED),-seed $(SEED))
cases  = $(if $(SEED),-rapid.seed=$(SEED))

# $(call reaching,PACKAGE,PACKAGES) lists those packages whose tests reach a package, and so know its flags.
reaching = go list -test -f '{{$$p := .}}{{if eq .Name "main"}}{{range .Deps}}{{if eq . "$(1)"}}{{$$p.ImportPath}}{{end}}{{end}}{{end}}' $(or $(2),./...) | sed -n 's/\.test$$//p'
# $(call running,PACKAGE,FLAGS) runs their tests in the root with flags.
running = found=$$($(call reaching,$(1))); test -n "$$found"; go test -timeout=2h $$found $(2)
# $(call tested,MODULE,FLAGS,PACKAGES) runs the tests of a module, and names those that were skipped.
gotest = $(TOOL) gotestsum --format=pkgname -- $(if $(CHECKS),-timeout=50m) $(2) -shuffle=$(or $(SEED),on)
tested = @echo "== $(1)"; cd $(1); of="$(or $(3),./...)"; drawing=$$($(if $(cases),$(call reaching,$(RAPID),$$of),true)); \
	test -z "$$drawing" || $(gotest) $$drawing $(cases); \
	others=$$(go list $$of | grep -vxF "$$drawing" || true); test -z "$$others" || $(gotest) $$others
# $(call side-by-side,MODULES) makes $@/MODULE for each, two at a time: most packages keep one core busy. Long ones come first.
side-by-side = +@$(MAKE) --no-print-directory -j2 $(addprefix $@/,$(1))

# $(call compared,PACKAGE,TEST,FLAGS) compiles tests with the controllers of RELEASE, such as 1.33,JobManagedBy=false, and runs one.
compared = cd x/proof/conformance; go run ./build $(release) $(1) $(1)/compared.test; cd $(1); \
	./compared.test -test.timeout=0 -test.run='^$(2)$$' $(release) -first $(or $(FIRST),0) $(3)
release  = $(if $(RELEASE),-release $(RELEASE))

.PHONY: $(shell sed -n 's/^\([a-z]*\):.*/\1/p' $(MAKEFILE_LIST))

test: cases += $(if $(CHECKS),-rapid.checks=$(CHECKS))
test: ## the library and its kits, with CHECKS cases of each property
	$(call tested,.)
nested: ## the other modules, two at a time, but for those with the controllers of Kubernetes or of others
	$(call side-by-side,$(NESTED))
nested/%:
	$(call tested,$*,-p=1)
# The packages that start goroutines, but for one whose tests wait for processes, and the kits, with a quarter of the lives.
starting = $$(for p in $$(go list -f '{{.ImportPath}}={{.Dir}}' ./...); do ! grep -qE '^\s*go [a-zA-Z.]+\(|synctest\.|\.Go\(func|t\.Parallel' $${p\#*=}/*.go || echo $${p%=*}; done | sed '/jobcheck$$/d')$(if $(filter .,$*), ./job/jobtest ./cronjob/cronjobtest)
race: ## what starts goroutines, with the race detector, two modules at a time
	$(call side-by-side,. $(filter-out x/proof%,$(NESTED)))
race/%: cases += -rapid.checks=25
race/%:
	$(call tested,$*,-race -p=1 -skip='^Test(Find_(Planted|Several)|Operator_Find|Steps_None)$$$$',$(starting))
root: ## the tests of the local runner as root, some of which need it; with sudo for another user
	go -C x/cmd/batchrun test -count=1 $(if $(filter 0,$(shell id -u)),,-exec 'sudo -n') ./...
oldest: ## the library and the adapter compile with the oldest Go that their go.mod names
	@for m in . x/kubernetes; do go=$$(cd $$m && go list -m -f '{{.GoVersion}}'); echo "== $$m, go$$go"; GOTOOLCHAIN=go$$go go -C $$m build ./...; done
newest: ## the tests of the adapter with the newest libraries of Kubernetes; make nested runs them with the oldest
	cd x/kubernetes; go mod tidy -modfile=newest.mod -diff; go vet -modfile=newest.mod ./...; go test -modfile=newest.mod -shuffle=$(or $(SEED),on) ./...
outside: ## what others do with the modules: programs that require them by version, with the oldest and the newest libraries
	go run -C x/proof ./tools/outside -root $(CURDIR)
release: ## check and tag VERSION of every published module, locally; DRY=1 tries it in a copy, NOTES=1 prints its page
	@go run -C x/proof ./tools/release -root $(CURDIR) $(if $(VERSION),-version $(VERSION)) $(if $(NOTES),-notes,$(if $(DRY),-dry,-check 'make check'))
systems: ## the root compiles where an int has 32 bits, and the local runner for each system
	GOARCH=386 CGO_ENABLED=0 go vet ./...
	@for os in linux darwin windows; do echo "== $$os"; GOOS=$$os CGO_ENABLED=0 go -C x/cmd/batchrun vet ./...; done
lint: ## format, layout, vet, staticcheck and go.mod of every module but those with the controllers of others
	@files=$$(gofmt -l .); test -z "$$files" || { echo "not formatted: $$files"; exit 1; }
	@cd x/proof; go test -count=1 -run='^TestLayout' ./citations
	@for m in $(MODULES); do echo "== $$m"; (cd $$m; go vet ./...; $(TOOL) staticcheck ./...; go mod tidy -diff); done
modules: ## list these modules
	@echo $(MODULES)

prop: ## the properties, with CHECKS cases each
	@$(call running,$(RAPID),-rapid.checks=$(or $(CHECKS),100000) $(cases))
seeds: ## the tests that draw their cases, of every module, with SEEDS seeds after FIRST
	@for m in . $(NESTED); do cd $(CURDIR)/$$m; drawing=$$($(call reaching,$(RAPID))); test -n "$$drawing" || continue; \
		for n in $$(seq $$(($(or $(FIRST),0) + 1)) $$(($(or $(FIRST),0) + $(or $(SEEDS),200)))); do echo "== $$m, seed $$n"; \
		go test -shuffle=$$n $$drawing -rapid.seed=$${n}000003; done; done # close seeds share most cases
fuzz: ## every fuzz target for FUZZTIME
	@for p in $$(go list ./...); do list=$$(go test -list '^Fuzz' $$p); for f in $$(grep '^Fuzz' <<<"$$list" || true); do \
		echo "== $$p $$f"; go test -run='^$$' -fuzz="^$$f\$$" -fuzztime=$(or $(FUZZTIME),30s) $$p; done; done
golden: ## rewrite the expected outputs of the stories: explain each changed line
	@$(call running,github.com/batchplan/batchplan/internal/golden,-update)
bench: ## every benchmark
	go test -run='^$$' -bench=. -benchmem -count=$(or $(COUNT),1) ./...
lives: ## LIVES random lives of CronJobs with all options together, through cronjob/cronjobtest
	go test -count=1 -timeout=4h -v -run='^TestBackend_Kinds$$' ./cronjob/cronjobtest -rapid.nofailfile -rapid.checks=$(or $(LIVES),20000) $(cases)
worlds: ## WORLDS random worlds of a CronJob to their ends
	@go -C x/proof test -count=1 -timeout=4h -v -run='^TestWorlds$$' ./cronworlds -seed $(or $(SEED),1) -first $(or $(FIRST),0) -worlds $(or $(WORLDS),20000)
explore: ## every interleaving of small worlds: SIZE=large for hours, MATCH=late for some of them, MEMORY=8192 for MiB
	go run -C x/proof ./explore/run -size $(or $(SIZE),small) -match '$(MATCH)' -memory $(or $(MEMORY),4096)
planted: ## plant known bugs, one at a time, and say which proof finds each; JUDGES=scripts,rounds MATCH='^K' LIVES=300
	go run -C x/proof ./planted -judges $(JUDGES) $(seed) $(if $(LIVES),-lives $(LIVES)) -match '$(MATCH)'
mutants: ## find small changes of the code that no test notices; MUTANTS=300 for a sample of each package, MODULE=x/kubernetes PACKAGES=convert for a nested module
	@go run -C x/proof ./tools/mutants -root $(CURDIR)/$(MODULE) -equivalents tools/mutants/equivalents.txt $(seed) $(if $(QUICK),-quick) -n $(or $(MUTANTS),0) -match '$(MATCH)' \
		$(or $(PACKAGES),job job/jobapply cronjob cronjob/cronjobapply backoff schedule expectations internal/indexset)

stored: ## stored scripts for the real controllers and for ours, and the answers of the test server; OLDER=1 for what only an older release shows
	$(call tested,x/proof/conformance,$(if $(OLDER),-count=1 -timeout=1h -run='^TestOlder$$',-vet=off -timeout=15m -skip='^Test(LongRun|Older)$$'),$(if $(OLDER),./build))
conformance: ## SCRIPTS generated scripts for the real controllers and for ours
	@$(call compared,.,TestLongRun,$(seed) -scripts $(or $(SCRIPTS),1000))
rounds: ## ROUNDS single rounds of the real controllers and of ours, from the same snapshots
	@$(call compared,./rounds,TestRounds,-seed $(or $(SEED),1) -rounds $(or $(ROUNDS),100000))
validation: ## CASES random specs and statuses of each kind for the API server's validation and for ours
	@$(call compared,./validation,Test.*,$(seed) -cases $(or $(CASES),20000))
cluster: ## end-to-end tests on a real API server, with JOBS jobs of PODS pods together and one of INDEXES
	go -C x/proof/conformance test -count=1 -timeout=2h -v -run='^TestEndToEnd$$' ./e2e $(seed) -jobs $(or $(JOBS),500) -pods $(or $(PODS),10) -indexes $(or $(INDEXES),5000)
costs: ## requests, processor time and memory beside the controllers of Kubernetes: of JOBS jobs, RUNNING pods that run, FINISH that end, CROWD jobs at a start, COUNT times
	go -C x/proof/conformance test -count=1 -timeout=5h -v -run='^Test(RequestsOnServer|Load)$$' ./costs -server -jobs $(or $(JOBS),500) \
		-pods $(or $(RUNNING),1000) -finishing $(or $(FINISH),200) -crowd $(or $(CROWD),300) -repeat $(or $(COUNT),1) $(if $(PROFILES),-profiles $(abspath $(PROFILES)))
traces: ## record both sides on a real API server until each log has TRANSITIONS steps, or the controllers of an older RELEASE; check the logs, and plant bugs into them
	cd x/proof/conformance; go run ./build $(release) ./costs ./costs/compared.test; cd costs; ./compared.test -test.timeout=2h -test.v -test.run='^TestTraces$$' -plant -transitions $(or $(TRANSITIONS),2000) $(seed)
others: ## known findings and LIVES random lives of each controller that others wrote, with SHORT short ones and each fault: SUBJECT=kruise, kruise/broadcastjob, velero, jobset, argo, ours or ../conformance/blackbox for one
	@failed=; for s in $(or $(SUBJECT),ours velero kruise kruise/broadcastjob argo jobset ../conformance/blackbox); do echo "== $$s"; go -C x/proof/others/$$s test -count=1 -timeout=4h -v . \
		-seed $(or $(SEED),1) -first $(or $(FIRST),0) -lives $(or $(LIVES),200) -short $(or $(SHORT),2) || failed+=" $$s"; done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }
kills: ## kill the local runner and its supervisors, or with OF=examples/database its workers, KILLS times; CONTAIN=cgroup for one way to end processes
	go -C $(or $(OF),x/cmd/batchrun) test -count=1 -timeout=2h -v -run='^TestManyKills$$' . $(seed) -kills $(or $(KILLS),$(if $(OF),200,1000)) $(if $(CONTAIN),-contain $(CONTAIN))
axe: ## the page of the explainer checked by axe-core, which npm fetches
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; cd "$$dir"; npm pack --silent axe-core@4.14.1 >/dev/null; tar xzf axe-core-*.tgz package/axe.min.js; \
		AXE="$$dir/package/axe.min.js" go -C $(CURDIR)/x/cmd/batchwhy test -count=1 -v -run='^TestAxe$$' ./internal/page
result: ## write a file of docs/results again: NAME=search. Its first line is the command
	@docs/results/again $(NAME)
check: ## what CI runs, except govulncheck, fuzzing, macOS, Windows and the older Go
	bash .ci/run
