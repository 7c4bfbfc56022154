# Every habit has a target; `make help` lists them.
#
# Lints, documentation and tests use the same profile, features and flags, so that dependencies are checked once and built
# once. Only the demo and benchmarks want a release build.

CARGO ?= cargo
# What only tests need is built in for them.
FEATURES ?= --features simulation
# How long `make fuzz` tries each port and engine, and `make simulate` runs seeds.
MINUTES ?= 10
# The first seed of `make simulate`.
SEED ?= 0
# Which clusters `make states` looks at; all when it is empty.
CLUSTER ?=
# Where the demo keeps its data; `make demo-clean` removes it.
DEMO_DIR ?= /var/lib/cooperage-demo

# A quicker linker, looked for when a recipe runs: `packages` may just have installed it.
USER_RUSTFLAGS := $(RUSTFLAGS)
export RUSTFLAGS = $(strip $(USER_RUSTFLAGS) $(if $(shell command -v mold),-C link-arg=-fuse-ld=mold))

.PHONY: help demo demo-clean test check lint unit web book web-check web-test web-scale fuzz simulate states mutants fmt bench run build dist deb container audit packages rust root
.NOTPARALLEL:

help: ## What can be done here
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: root rust packages web book ## Build, start, and bring up a real cluster of 5 machines
	@$(CARGO) build --release --locked
	@target/release/cooperage demo --data-dir $(DEMO_DIR)

demo-clean: root ## Remove every trace of the demo
	@if [ -x target/release/cooperage ]; then target/release/cooperage demo --data-dir $(DEMO_DIR) --clean; \
	elif [ -e $(DEMO_DIR) ]; then echo "Only the program can remove the demo's machines: make build, then make demo-clean" >&2; exit 1; fi

test: rust packages web book lint ## The whole suite, real machines, databases and a browser included
	$(CARGO) test --workspace --locked $(FEATURES)
	@$(MAKE) --no-print-directory web-check
	@[ "$$(id -u)" -eq 0 ] || echo "NOT TESTED: machines on this host, since that needs root. Run 'make test' as root for all." >&2

check: rust lint unit ## Formatting, lints, documentation, unit tests: before every commit

lint: ## Formatting, lints and documentation
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked $(FEATURES) -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet $(FEATURES)

unit: ## Unit tests and the house rules
	$(CARGO) test --workspace --lib --bins --test tidy --locked --quiet $(FEATURES)

fuzz: rust ## Send anything at all to a server, for MINUTES=10 per port and engine
	FUZZ_MINUTES=$(MINUTES) $(CARGO) test --locked $(FEATURES) --test fuzz -- --nocapture --test-threads=1

simulate: rust ## Clusters in simulated time, while everything goes wrong that can, for MINUTES=10
	$(CARGO) run --release --locked $(FEATURES) -- simulate --minutes $(MINUTES) --seed $(SEED)

states: rust ## Every state of larger clusters, to the last: takes long; of one of them with CLUSTER=name
	COOPERAGE_STATES="$(CLUSTER)" $(CARGO) test --release --locked -p cooperage-domain --test operations -- --ignored --nocapture larger_clusters

mutants: rust ## Whether deliberate bugs in the kernel are found by the simulation, and in the states of small clusters
	$(CARGO) test --release --locked -p cooperage-domain --features mutants --test operations -- --nocapture deliberate_bugs
	$(CARGO) test --release --locked -p cooperage-simulation --no-default-features --features mutants --test mutants -- --nocapture

fmt: ## Format all sources
	$(CARGO) fmt --all

bench: rust ## Measure, each figure beside what it should be
	$(CARGO) run --release --locked -- bench

run: ## A server with its data in ./data
	$(CARGO) run --release --locked -- serve --set data_dir=$(CURDIR)/data

build: rust web book ## The release binary, with the web interface and the book
	$(CARGO) build --release --locked

# The web interface needs Node.js; without it everything else is built all the same, and the server says at / what is missing.
NODE_OK = node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 18 || (a == 18 && b >= 19) ? 0 : 1)' 2>/dev/null && command -v npm >/dev/null
NO_NODE = echo "LEFT OUT: the web interface, since Node.js 18.19 or newer with npm is missing (Debian: apt-get install nodejs npm)." >&2

NO_PACKAGES = echo "LEFT OUT: the web interface, since its packages could not be fetched (see above)." >&2
# `npm ci` wants even those packages in the lock file that other systems need.
WEB_PACKAGES = { [ node_modules/.package-lock.json -nt package-lock.json ] || npm install --no-save; }

web: ## The web interface, for the next build to carry
	@if $(NODE_OK); then cd web && if $(WEB_PACKAGES); then npm run --silent build; else $(NO_PACKAGES); fi; else $(NO_NODE); fi

web-check: ## Types, words and unit tests of the web interface
	@if $(NODE_OK); then cd web && if $(WEB_PACKAGES); then npm run --silent check && npm run --silent unit; else $(NO_PACKAGES); fi; \
	else $(NO_NODE); fi

book: rust ## The book's pages, for the next build to carry; tells of links that lead nowhere
	@$(CARGO) run --quiet --locked -p cooperage-press -- docs/src docs/dist

web-test: rust web book ## The web interface in a browser, with a server and machines of its own; needs root
	$(CARGO) test --locked $(FEATURES) --test e2e browser -- --nocapture

web-scale: build ## What the web interface costs with 200 clusters of 50 machines, measured in a browser
	npm --prefix web run --silent scale

# Relocations take an eighth of their room so. Programs need glibc 2.36 then (Debian 12), and GNU ld must link them.
PACKED = RUSTFLAGS="-C link-arg=-Wl,-z,pack-relative-relocs"

dist: rust packages web book ## The binary to give to others: smaller, and long in the making
	$(PACKED) $(CARGO) build --profile dist --locked

# What the package is made of; `PROFILE=release` is quicker to build, and larger.
PROFILE ?= dist

deb: rust packages web book ## The Debian package, in target/debian
	@$(CARGO) deb --version >/dev/null 2>&1 || { echo "cargo-deb is not installed: $(CARGO) install --locked cargo-deb" >&2; exit 1; }
	$(PACKED) $(CARGO) build --profile $(PROFILE) --locked
	@rm -rf target/deb-parts && mkdir -p target/deb-parts
	@target/$(PROFILE)/cooperage man --dir target/deb-parts/man
	@for shell in bash zsh fish; do target/$(PROFILE)/cooperage completion $$shell > target/deb-parts/cooperage.$$shell || exit 1; done
	$(CARGO) deb --no-build --profile $(PROFILE)

container: ## The container image cooperage, of the Debian package; needs docker or podman
	@ls target/debian/cooperage_*.deb >/dev/null 2>&1 || { echo "There is no package yet: make deb" >&2; exit 1; }
	@# Only Docker's own format has a health check.
	@$$(command -v podman >/dev/null && echo podman build --format docker || echo docker build) -f etc/container/Containerfile -t cooperage .

audit: ## Licences, sources and advisories of dependencies
	@$(CARGO) deny --version >/dev/null 2>&1 || \
	{ echo "cargo-deny is not installed: $(CARGO) install --locked cargo-deny" >&2; exit 1; }
	$(CARGO) deny check licenses bans sources
	$(CARGO) deny check advisories

packages: ## Install what building and testing need (Debian, as root)
	@sh etc/packages.sh

rust:
	@command -v $(CARGO) >/dev/null || { echo "Rust is not installed, or ~/.cargo/bin is not in PATH: see https://rustup.rs" >&2; exit 1; }

root:
	@[ "$$(id -u)" -eq 0 ] || { echo "'make $(MAKECMDGOALS)' needs root: it makes machines on this host (see README.md)." >&2; exit 1; }
