# Two commands are enough: `make run` and `make test`. Both set up what is missing first.
SHELL := /bin/bash
NODE := env PATH="$(CURDIR)/.toolchain/bin:$(CURDIR)/node_modules/.bin:$$PATH" node

.PHONY: help run setup worker test test-all lint generate bench soak fuzz clean

help:
	@echo 'make run [SOURCE=<file, url or device>] [MODEL=<name or onnx file>]   start the appliance'
	@echo 'make test       every test (make test-all: the long ones too)'
	@echo 'make bench      speed, side by side with the bare tools'
	@echo 'make fuzz       100,000 requests against every route'
	@echo 'make soak       200 kills of the engine, then ten minutes of memory under load'
	@echo 'make worker     download or build what WebRTC needs (make run does so by itself, in the background)'
	@echo 'make lint       format what can be formatted'
	@echo 'make generate   rewrite generated files'
	@echo 'make clean      remove what make has built (not your data)'

# What the caller wrote goes through the environment as it is: a path may hold quotes, spaces and dollars, an address a
# password, which the arguments of a process would show to everybody on the machine.
run: override export SOURCE := $(value SOURCE)
run: override export MODEL := $(value MODEL)
run:
	@appliance/setup/setup.sh run
	@exec $(NODE) appliance/supervisor/main.ts --obtain-worker

setup:
	@appliance/setup/setup.sh test

worker: setup
	@appliance/mediasoup-worker/obtain.sh

test: setup
	@$(NODE) node_modules/typescript/bin/tsc --noEmit -p .
	@$(NODE) node_modules/typescript/bin/tsc --noEmit -p console
	@$(NODE) node_modules/@biomejs/biome/bin/biome check .
	@$(NODE) node_modules/vitest/vitest.mjs run

test-all: test
	@EYRIE_LONG=1 $(NODE) node_modules/vitest/vitest.mjs run

lint: setup
	@$(NODE) node_modules/@biomejs/biome/bin/biome check --write .

generate: setup
	@$(NODE) sdk/element/generate.ts plugins/*/
	@$(NODE) appliance/notices/generate.ts
	@$(NODE) appliance/reference/generate.ts
	@$(NODE) node_modules/@biomejs/biome/bin/biome format --write plugins/*/plugin.json

bench: setup
	@$(NODE) test/bench/main.ts

soak: setup
	@$(NODE) test/soak/main.ts

fuzz: setup
	@$(NODE) test/fuzz/main.ts

clean:
	rm -rf node_modules .toolchain services/media/node-gst/build console/dist
