import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{sdk,services,plugins,scene,models,appliance,test}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/build/**'],
    // Native addons and real processes: a process each, so that a crash names its test file.
    pool: 'forks',
    setupFiles: ['test/fixtures/patience.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
