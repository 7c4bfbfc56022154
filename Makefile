# Every habit has a target; `make help` lists them.

CARGO ?= cargo
# A quicker linker where there is one.
LINKER := $(firstword $(foreach linker,mold lld,$(if $(shell command -v $(linker) ld.$(linker) 2>/dev/null),$(linker))))
ifneq ($(LINKER),)
export RUSTFLAGS += -C link-arg=-fuse-ld=$(LINKER)
endif
# Where the demo keeps its data; `make demo-clean` removes it.
DEMO_DIR ?= /var/lib/cooperage-demo

.PHONY: help demo demo-clean test check unit bench run build packages fmt

help: ## What can be done here
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: packages ## Build, start, and bring up a real cluster of 5 machines
	@$(CARGO) build --release --locked
	@target/release/cooperage demo --data-dir $(DEMO_DIR)

demo-clean: ## Remove every trace of the demo
	@if [ -x target/release/cooperage ]; then target/release/cooperage demo --data-dir $(DEMO_DIR) --clean; \
	else rm -rf $(DEMO_DIR); fi

test: packages check ## The whole suite, real machines and databases included
	$(CARGO) test --workspace --locked --features simulation

check: fmt ## Formatting, lints, documentation, unit tests: before every commit
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --quiet
	$(CARGO) test --workspace --lib --bins --locked --quiet

fmt:
	$(CARGO) fmt --all --check

bench: ## Measure, as ratios within one run
	$(CARGO) bench --workspace --locked

run: ## A server with its data in ./data
	$(CARGO) run --release --locked -- serve --set data_dir=data

build: ## The release binary
	$(CARGO) build --release --locked

packages: ## Install what building and testing need (Debian, as root)
	@sh etc/packages.sh
