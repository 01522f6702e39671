# Two commands are enough: `make run` and `make test`. Both run the setup first.
NODE := env PATH="$(CURDIR)/.toolchain/bin:$(CURDIR)/node_modules/.bin:$$PATH" node

.PHONY: help run setup worker check test test-all images test-compose lint generate sdk sbom bench soak fuzz clean

help:
	@echo 'make run [SOURCE=<file, url or device>] [MODEL=<name or onnx file>]   start the appliance'
	@echo 'make test       run the tests (make test-all: also those that take long)'
	@echo 'make images     build the container images'
	@echo 'make test-compose   install Docker where it is missing, build the images, and drive them by docker compose'
	@echo 'make check      check types and style, without tests'
	@echo 'make bench      run the benchmarks'
	@echo 'make fuzz       send 100,000 requests to every route'
	@echo 'make soak       kill the engine 200 times, all services for ten minutes, then measure memory for ten'
	@echo 'make worker     download or build the WebRTC worker (make run does this in the background)'
	@echo 'make lint       format and lint TypeScript, CSS and JSON'
	@echo 'make generate   regenerate generated files'
	@echo 'make sdk        write the npm package of the element SDK to build/'
	@echo 'make sbom       write eyrie.cdx.json, which lists all components with versions and hashes (CycloneDX)'
	@echo 'make clean      remove build output (not your data)'

# SOURCE and MODEL are passed unchanged through the environment: a path may contain quotes, spaces
# and dollar signs, and an address may contain a password, which every user of the machine could
# read in the arguments of a process.
run: override export SOURCE := $(value SOURCE)
run: override export MODEL := $(value MODEL)
run:
	@appliance/setup/setup.sh run
	@exec $(NODE) appliance/main.ts --obtain-worker

setup:
	@appliance/setup/setup.sh test

# Like `sbom`, without the packages of the tests, because operators run it, too.
worker:
	@appliance/setup/setup.sh run
	@appliance/mediasoup-worker/obtain.sh

# Two checkers instead of four, each of which would compute the types that they share.
check: setup
	@$(NODE) node_modules/typescript/bin/tsc --noEmit --checkers 2 -p .
	@$(NODE) node_modules/typescript/bin/tsc --noEmit --checkers 2 -p console
	@$(NODE) node_modules/@biomejs/biome/bin/biome check .

test: check
	@$(NODE) node_modules/vitest/vitest.mjs run --tags-filter='!long'

test-all: check
	@$(NODE) node_modules/vitest/vitest.mjs run

images:
	@appliance/docker/build.sh

test-compose: setup
	@PATH="$(CURDIR)/.toolchain/bin:$$PATH" test/compose/run.sh

lint: setup
	@$(NODE) node_modules/@biomejs/biome/bin/biome check --write .

# make would ignore a folder that exists, and succeed.
$(foreach folder,$(filter-out .,$(patsubst %/plugin.json,%,$(wildcard $(addsuffix /plugin.json,$(MAKECMDGOALS))))),\
  $(error make generates only what belongs to this checkout: run ./eyrie plugin generate $(folder)))

generate: setup
	@$(NODE) sdk/element/generate.ts plugins/*/ $(dir $(wildcard examples/plugins/*/element.ts))
	@$(NODE) appliance/notices/generate.ts
	@$(NODE) appliance/reference/generate.ts
	@$(NODE) node_modules/@biomejs/biome/bin/biome format --write plugins/*/plugin.json examples/plugins/*/plugin.json

sdk: setup
	@$(NODE) sdk/cli/sdk-package/main.ts build

sbom:
	@appliance/setup/setup.sh run
	@$(NODE) appliance/sbom/generate.ts

bench: setup
	@$(NODE) test/bench/main.ts

soak: setup
	@$(NODE) test/soak/main.ts

fuzz: setup
	@$(NODE) test/fuzz/main.ts

clean:
	rm -rf node_modules .toolchain services/media/node-gst/build services/kit/launcher/build services/kit/protection/build services/kit/descriptors/build console/dist
