# Go 1.26 is all it takes. Every target is one command on a clean clone.
export CGO_ENABLED := 0
# For every go alike, so that none compiles again what another has. No API that odd talks to
# needs HTTP/2, and without it the program is half a megabyte smaller.
export GOFLAGS := -trimpath -tags=nethttpomithttp2 $(GOFLAGS)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
DIR         ?= $(shell mktemp -d)
FUZZTIME    ?= 20s
TORTURETIME ?= 5m
SEED        ?= 1

.PHONY: demo test race torture soak bench lint fuzz interop install build release

demo: build
	@./bin/odd demo $(DIR)

# Tests wait for locks, deadlines and programs, so more of them than cores run at once, and the
# stories, which take longest, begin first. Memory is collected seldom, which makes 80 links faster.
test: export TMPDIR ?= $(shell .ci/tmp)
test: export GOGC ?= 400
test:
	go vet ./... && go test -timeout 30m -vet=off -ldflags='-s -w' -p 4 -parallel 4 ./testscripts ./...

# The packages under the race detector, which needs a C compiler; not part of make test.
race: export CGO_ENABLED := 1
race:
	go test -race -short $$(go list ./... | grep -v testscripts)

torture:
	go test -count=1 -timeout 90m -run '^Test(Torture|Faults)$$' -v ./testscripts -for $(TORTURETIME) -seed $(SEED) -faults 40

# One line of CSV per hundred tasks: seconds, peak memory, size of .git.
SOAK ?= 2000
soak:
	go test -count=1 -timeout 120m -run '^TestSoak$$' -v ./testscripts -tasks $(SOAK)

# BENCH=Peers measures one part; BENCHFLAGS="-atoms 10000" keeps bundles small.
# Each part has a process of its own, which stays smaller than what it measures.
BENCH ?= Start Tasks Drain|Soak Load|Commands Reconcile Peers Reader Page
bench:
	@for part in $(patsubst %,'%',$(BENCH)); do \
		go test -tags bench -count=1 -timeout 120m -run "^TestBench($$part)\$$" -v ./testscripts/bench $(BENCHFLAGS) || exit 1; done

lint:
	@.ci/lint $(STATICCHECK) $(ACTIONLINT)

fuzz:
	@.ci/fuzz $(FUZZTIME)

# Real clients, servers and a browser; not part of make test.
interop: build
	@for s in testscripts/interop/*.sh; do echo "== $$s"; sh $$s bin/odd || exit 1; done

install:
	go install ./cmd/odd

build:
	@go build -o bin/odd ./cmd/odd

# What a person can install, for every system; nothing is published. See .ci/release.
OUT ?= dist
release:
	@go run ./.ci/release -out $(OUT)
