import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

// Some hundred processes load the same code: Node compiles it once, and keeps it where `npm ci` and
// `make clean` remove it.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

/**
 * Files that load no GStreamer share processes: to load the same modules for each of them took
 * a second of CPU time.
 */
const SHARED = [
  '{appliance,console,models,plugins,scene,sdk}/**/*.test.ts',
  'services/{engine,kit,management,scheduler}/**/*.test.ts',
  'test/{architecture,bench,examples,fuzz}/**/*.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: SHARED,
          isolate: false,
          // Tests mostly wait for cameras, browsers and processes: four files at a time
          // keep two cores busy.
          maxWorkers: 4,
          sequence: { groupOrder: 2 },
        },
      },
      {
        // A process each, so that a crash in GStreamer names its test file.
        extends: true,
        test: {
          name: 'isolated',
          include: ['{services/media,test/e2e,test/hostile}/**/*.test.ts'],
          // Whole appliances: more of them at a time would miss their real-time
          // limits on two cores.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    exclude: ['**/node_modules/**', '**/build/**'],
    pool: 'forks',
    // Tests keep what they create for a moment: with room for it, a tenth less time is spent
    // on garbage collection.
    execArgv: ['--min-semi-space-size=32'],
    setupFiles: ['test/fixtures/setup/wait-timeout.ts'],
    reporters: ['default', 'test/fixtures/setup/summary-reporter.ts'],
    globalSetup: ['test/fixtures/setup/database.ts', 'test/fixtures/setup/service-caches.ts'],
    // Generous, because a passing test does not wait for them, and a busy machine may take this
    // long.
    testTimeout: 120_000,
    hookTimeout: 180_000,
  },
})
