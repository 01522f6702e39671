import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Hono } from 'hono'
import { run } from './run.ts'

/**
 * A service that starts only after its supervisor has disconnected, and writes to the file that is
 * its argument.
 */
await run('media', () => ({
  app: new Hono(),
  start: async () => {
    if (process.connected) await once(process, 'disconnect')
    const [file] = process.argv.slice(2)
    if (file) writeFileSync(file, 'started')
  },
  stop: async () => {},
  health: () => ({ ok: true }),
}))
