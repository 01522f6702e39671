import { once } from 'node:events'
import { Hono } from 'hono'
import { run } from './run.ts'

/** A service that starts only after its supervisor has disconnected. */
await run('media', () => ({
  app: new Hono(),
  start: async () => {
    if (process.connected) await once(process, 'disconnect')
  },
  stop: async () => {},
  health: () => ({ ok: true }),
}))
