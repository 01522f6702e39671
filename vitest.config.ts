import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import SlowFilesFirst from './test/fixtures/setup/slow-files-first.ts'

// Some hundred processes load the same code: Node compiles it once, and keeps it where `npm ci`
// and `make clean` remove it.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    // The examples have tests for the test runner of Node, which `test/examples` runs.
    include: ['{appliance,console,models,plugins,scene,sdk,services,test}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/build/**'],
    tags: [{ name: 'long', description: 'Only `make test-all` runs these tests.' }],
    // Processes, because native code may crash: the report then names the test file.
    pool: 'forks',
    // Files share processes: to load the same modules for each of them takes a second of CPU time.
    isolate: false,
    // Whole appliances: more of them at a time would miss their real-time limits on two cores.
    maxWorkers: 3,
    sequence: { sequencer: SlowFilesFirst },
    // Tests keep what they create for a moment: with room for it, a tenth less time is spent on
    // garbage collection.
    execArgv: ['--min-semi-space-size=32'],
    setupFiles: ['test/fixtures/setup/wait-timeout.ts'],
    reporters: ['default', 'test/fixtures/setup/summary-reporter.ts'],
    globalSetup: ['test/fixtures/setup/database.ts', 'test/fixtures/setup/service-caches.ts'],
    // Generous, because a passing test does not wait for them, and a busy machine may take this
    // long.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
