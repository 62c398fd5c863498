# Each target is a line that could be typed. `make help` lists them, by group.

.DEFAULT_GOAL := help
.PHONY: $(shell sed -nE 's/^([a-z-]+):.*## .*/\1/p' $(firstword $(MAKEFILE_LIST)))

# What measures says of which sources it was built.
REVISED = go build -ldflags "-X eventide/props/interleave/evidence.Revision=$$(git describe --always --dirty --abbrev=10 '--exclude=*')"

##@ Check

verify: ## a verdict for each guarantee: model, traces, properties, chosen schedules, planted bugs; BUDGET=30s (default 2m), SEED=7, STRICT=1
	go run ./props/cmd/verify $(if $(SEED),-seed $(SEED)) $(if $(STRICT),-strict)

verify-speed: ## programs, schedules and steps per second of two lanes, each alone on one processor; ROUNDS=3; writes out/lanes.json
	go run ./props/cmd/verify -speed $(or $(ROUNDS),3)

# The limit of a package is an hour: a machine with other load needs more than the ten
# minutes of go test. Without the race detector: the model, which has no goroutine and would take minutes;
# and the interleave lane, whose tests run binaries of the lane, one of which has the race detector.
# The packages of which make test runs every test at full size; of the others it runs the properties so.
WHOLE := ./core/... ./model/... ./props/history ./props/exectest ./props/mutant ./props/cmd/... ./props/lanes/interleave/... ./stress ./bench/...

test: lint ## what a change must pass: lint, all tests with the race detector, all properties, twelve planted bugs
	go test -timeout 60m -race -short $$(go list ./... | grep -v -e '/model$$' -e '/props/lanes/interleave')
	go test -timeout 60m $(WHOLE)
	go test -timeout 60m -run Prop $$(go list ./... | grep -vxF "$$(go list $(WHOLE))")
	for module in core/watch/promwatch core/watch/otelwatch core/examples/cron core/examples/grpc; do (cd $$module && go vet ./... && go test -race ./...) || exit 1; done
	go run ./props/cmd/mutants -short

lint: ## gofmt, vet, staticcheck
	@test -z "$$(gofmt -l . | tee -a /dev/stderr)" || { echo 'gofmt would change the files above'; exit 1; }
	go vet ./...
	go vet -tags verify ./props
	go vet -tags shadow ./props/lanes/sockets ./props/lanes/exits
	go vet -tags browser ./props/cmd/verify
	go tool staticcheck ./...

demo: ## in under a minute: tasks lost by a channel and not by core, a planted bug minimised, a deadlock found
	go run ./props/cmd/demo

prop: ## all properties
	go test -run Prop ./...

mutants: ## every planted bug; MUTANT=name for one, SHORT=1 for twelve; AUTO=60 SEED=n for mechanical ones
	go run ./props/cmd/mutants $(if $(MUTANT),-run $(MUTANT)) $(if $(SHORT),-short) $(if $(AUTO),-auto $(AUTO) $(if $(SEED),-seed $(SEED)))

mutants-nightly: ## judge mechanical mutants of today's sources and keep the verdicts; AUTO=60, SEED=n (default: the day)
	go run ./props/cmd/mutants -auto $(or $(AUTO),60) -seed $(or $(SEED),$$(date +%Y%m%d)) -parallel 1 -keep

mutants-check: ## fail if the score of the newest kept run of mechanical mutants fell by more than chance explains
	go run ./props/cmd/mutants -auto-check

mutants-columns: ## measure the other columns of the planted bugs: plain stress, and each property alone
	go run ./props/cmd/mutants -stress
	go run ./props/cmd/mutants -alone

explore: ## every reachable state of the model; ARGS='-tasks 1 -cancel'
	go run ./model/cmd/explore $(ARGS)

stress: ## the stress tests with the race detector; EVENTIDE_SOAK=10m for longer
	go test -race -count=1 -timeout 0 -v ./stress

soak: ## lifecycles in real time under changing conditions, with a line each 5 s; it goes on where it was ended; ARGS='-for 1h -seed 2'
	go run ./props/cmd/soak $(ARGS)

fuzz: ## coverage-guided programs of executors and of groups; FUZZTIME=1m for each
	go test -run '^$$' -fuzz '^FuzzPropAll$$' -fuzzminimizetime 1x -fuzztime $(or $(FUZZTIME),1m) ./props
	go test -run '^$$' -fuzz '^FuzzPropG21Group$$' -fuzzminimizetime 1x -fuzztime $(or $(FUZZTIME),1m) ./props

conditions: ## every test binary with other buffers, processors, limits, load; ARGS='-race -conditions load ./core/...'
	go run ./stress/cmd/conditions $(ARGS)

report-browser: ## open the page of make verify in a headless Chromium, which is installed from Debian if there is none; BROWSER=name
	command -v $(or $(BROWSER),chromium) >/dev/null || { apt-get update && apt-get install -y --no-install-recommends chromium; }
	BROWSER=$(or $(BROWSER),chromium) go test -count=1 -tags browser -run TestBrowser ./props/cmd/verify

##@ Chosen schedules for any package

interleave-kernels: ## each strategy, go test, goleak and synctest on each kernel; writes testdata/interleave/kernels.json and docs/kernels.md
	$(REVISED) -o out/measure-kernels ./props/cmd/measure
	out/measure-kernels $(ARGS) kernels

interleave-determinism: ## 100 schedules of each controlled test in 20 processes; writes testdata/interleave/determinism.json
	$(REVISED) -o out/measure-determinism ./props/cmd/measure
	out/measure-determinism $(ARGS) determinism

interleave-speed: ## keep the best of three runs of interleave bench; writes testdata/interleave/speed.json
	$(REVISED) -o out/measure-speed ./props/cmd/measure
	out/measure-speed $(ARGS) speed

interleave-healthy: ## a million schedules of tests without bugs; writes testdata/interleave/healthy.json
	$(REVISED) -o out/survey ./props/cmd/survey
	out/survey -healthy -schedules 20000 -limit 2h
	out/survey -render

interleave-modules: ## the tests of others' modules under chosen schedules: ONLY=regexp RACE=1 ARGS='-schedules 1000'; writes testdata/interleave/modules.json
	$(REVISED) -o out/survey ./props/cmd/survey
	out/survey $(if $(RACE),-race -schedules 50 -kept testdata/interleave/modules-race.json) $(if $(ONLY),-only '$(value ONLY)') $(ARGS)
	out/survey -render

releases: ## the tests of chosen schedules with another Go release, and of a gRPC server; RELEASE=go1.25.14
	RELEASE=$(or $(RELEASE),go1.25.14) go test -tags releases -count=1 -run 'TestRelease|TestGRPC' ./props/interleave/works

release-next: ## the same with the newest Go release or release candidate after the supported ones; says so if there is none
	go test -tags releases -count=1 -v -run 'TestNextRelease|TestCandidate' ./props/interleave/works

##@ Measure

bench: ## benchmarks beside rivals, for benchstat; COUNT=10
	go test -run '^$$' -bench . -count $(or $(COUNT),1) ./bench

benchcmp: ## benchstat of two such outputs; OLD=file NEW=file
	go tool benchstat $(OLD) $(NEW)

compare: ## rivals interleaved round by round, ratios and targets; writes out/bench.json; ARGS for flags
	go run ./bench/cmd/compare $(ARGS)

gate: ## the working tree beside an older commit, before a release; BASE=v1.2.0, ARGS for flags
	go build -o out/release ./bench/cmd/release
	out/release -base "$(BASE)" $(ARGS)

gate-proof: ## how often the gate for any module raises a false alarm here, and finds what is planted; RUNS=50; writes out/gateproof.json
	go build -o out/gate ./bench/cmd/gate
	out/gate -prove $(or $(RUNS),50) -json out/gateproof.json $(ARGS)

ablation: ## what a lock, an allocation, a system call of core costs, by programs without it; writes out/ablation.json; ARGS for flags
	go run ./bench/cmd/ablation $(ARGS)

scale: ## throughput by producers, loops and connections, with what a knee means; simulates more processors; writes out/scale.json
	go run ./bench/cmd/scale $(ARGS)

peers-setup: ## install the libraries to compare with (apt, as root) and compile their drivers into out/peers
	apt-get update && apt-get install -y --no-install-recommends libnetty-java libjctools-java openjdk-17-jdk-headless gcc g++ libuv1-dev libboost-dev
	cd bench/peers && go mod download
	sh bench/peers/drivers/build.sh out/peers

peers: ## other libraries interleaved round by round; ROUNDS=12 RUN=regexp SEED=n; writes out/peers.json
	cd bench/peers && go run ./cmd/peers -rounds $(or $(ROUNDS),12) $(if $(RUN),-run '$(value RUN)') $(if $(SEED),-seed $(SEED))

oracle: ## generated programs on Netty and on core; SEED=n PROGRAMS=n
	cd bench/peers && go run ./cmd/oracle $(if $(SEED),-seed $(SEED)) $(if $(PROGRAMS),-n $(PROGRAMS))

matrix: ## which executors keep which guarantee; writes out/matrix.json
	cd bench/peers && go run ./cmd/matrix

promises: ## break each promise of the doc comments, and run the test that must see it; ARGS='-run Timer' for some
	go run ./props/cmd/promises $(ARGS)

rates: ## how often the kit for executors catches each planted mistake, and whether it fails a correct executor; ARGS='-runs 5'; writes testdata/exectest/rates.json
	go run ./props/cmd/rates $(ARGS)

servers: ## which servers keep which verdict of a shutdown, gRPC and gnet too; writes out/drain.json
	cd bench/peers && go run ./cmd/servers

##@ Documents

docs: ## write what documents take from the code: guarantees, diagrams, example outputs
	go test ./props -run '^TestDocumentsAreTrueOfTheCode$$' -update
	go test ./props/cmd/verify -run '^TestTheReadmeShowsTheKeptRun$$' -update

results: ## write RESULTS.md, and what the README shows of it, from the kept files
	go run ./bench/cmd/results
	go test ./props/cmd/verify -run '^TestTheReadmeShowsTheKeptRun$$' -update

results-keep: ## keep what verify, verify-speed, mutants, compare, peers, matrix, servers, gate, gate-proof, scale and ablation wrote to out
	mkdir -p testdata/bench
	cp out/bench.json out/bench.txt out/verify.json $(wildcard out/lanes.json out/mutants.json out/histograms.txt out/peers.json out/matrix.json out/drain.json out/gate.json out/scale.json out/ablation.json out/gateproof.json) testdata/bench/

results-check: ## fail if RESULTS.md and the pages about chosen schedules are not what the raw files give
	go run ./bench/cmd/results -check
	go run ./props/cmd/survey -check
	go run ./props/cmd/measure check

##@ Other

help: ## list the targets
	@awk -F ':.*## ' '/^##@/ { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-23s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

clean: ## remove out, where commands build and write
	rm -rf out
