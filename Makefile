# Tuval: what a person types. Each target works from a fresh checkout, as root or
# not, and as often as you like. What is missing on the machine is installed where
# that can be done (see scripts/need), else one line says what to install.

GO        ?= go
PKG       ?= ./...
RUN       ?= .
BENCHFLAGS ?=
FUZZTIME  ?= 20s
SOAKTIME  ?= 30m
TESTFLAGS ?=
COVER     ?=

BIN     := bin/tuval
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unversioned)
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)

# The stamp is ours, so that a checkout without git, or one that git does not trust
# because another user owns it, builds all the same.
BUILD  = CGO_ENABLED=0 $(GO) build -buildvcs=false -ldflags "-X main.version=$(VERSION) -X main.commit=$(COMMIT)" -o $(BIN) ./cmd/tuval
WITHPG = $(GO) run -buildvcs=false ./internal/testdb/with
TEST   = $(GO) test -buildvcs=false

.DEFAULT_GOAL := help
.PHONY: help run build test check lint generate bench soak fuzz demo clean clean-data

help: ## this list
	@echo "make TARGET [NAME=value ...]"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  values: PKG=$(PKG) RUN=$(RUN) BENCHFLAGS=$(BENCHFLAGS) FUZZTIME=$(FUZZTIME) SOAKTIME=$(SOAKTIME) TESTFLAGS= COVER=file"
	@echo "  settings of the server are environment variables: bin/tuval serve --help"

run: build ## the marketplace on http://127.0.0.1:8080, with its own PostgreSQL and a payment simulator; Ctrl-C stops all
	@exec $(BIN) serve

build: ## bin/tuval
	@scripts/need go
	$(BUILD)

test: ## all tests, with the race detector (PKG=./web RUN=TestHold for some)
	@scripts/need go compiler chromium
	$(WITHPG) $(TEST) -race -shuffle=on -timeout 30m -run '$(RUN)' $(if $(COVER),-coverprofile=$(COVER)) $(TESTFLAGS) $(PKG)

check: ## what CI runs: all tests, then lint, with coverage
	@.ci/run

lint: ## go vet, staticcheck, formatting, freshness of generated files
	@scripts/need go
	@scripts/lint

generate: ## write *_templ.go anew and format everything
	@scripts/need go
	$(GO) tool templ fmt views
	$(GO) tool templ generate -path views
	find . -path ./var -prune -o -name "*.go" ! -name "*_templ.go" -print0 | xargs -0 $(GO) tool gofumpt -w

bench: ## benchmarks, on a PostgreSQL that writes to the disk like a real one
	@scripts/need go
	CGO_ENABLED=0 $(GO) run -buildvcs=false ./internal/bench $(BENCHFLAGS)

soak: ## the long forms of the races, for SOAKTIME
	@scripts/need go compiler chromium
	TUVAL_TEST_SOAK=$(SOAKTIME) $(WITHPG) $(TEST) -race -count=1 -timeout 0 -run 'Soak' -v $(TESTFLAGS) $(PKG)

fuzz: ## every fuzz test for FUZZTIME each
	@scripts/need go compiler
	@FUZZTIME='$(FUZZTIME)' scripts/fuzz $(PKG)

demo: build ## fill the canvas of the local marketplace with examples
	@exec $(BIN) demo

clean: ## remove what was built; the local database in var/ stays
	rm -rf bin coverage* var/check
	@[ ! -d var/postgres ] || echo "kept: var/, the local marketplace's data (make clean-data removes it)"

clean-data: ## remove the local marketplace's database: everything in var/
	rm -rf var
