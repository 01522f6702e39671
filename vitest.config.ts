import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Some hundred processes load the same code: Node compiles it once, and keeps it where `npm ci` and `make clean` remove it.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    include: ['{sdk,services,console,plugins,scene,models,appliance,test}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/build/**'],
    // Native addons and real processes: a process each, so that a crash names its test file.
    pool: 'forks',
    // Tests mostly wait for cameras, browsers and processes: four at a time keep two cores busy.
    maxWorkers: 4,
    setupFiles: ['test/fixtures/setup/wait-timeout.ts'],
    reporters: ['default', 'test/fixtures/setup/summary-reporter.ts'],
    globalSetup: ['test/fixtures/setup/database.ts', 'test/fixtures/setup/service-caches.ts'],
    // Generous, because a passing test does not wait for them, and a busy machine may take this long.
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
})
