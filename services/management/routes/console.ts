import { EyrieError } from '@eyrie/contract/errors'
import { serveStatic } from '@hono/node-server/serve-static'
import type { Context, Hono } from 'hono'

/** The built console. Files under `/assets` carry a hash of their content in their name and never change. */
export function serveConsole(app: Hono, folder: string): void {
  app.get(
    '/assets/*',
    serveStatic({ root: folder, onFound: cacheFor('public, max-age=31536000, immutable') }),
  )
  app.get('*', serveStatic({ root: folder, onFound: cacheFor('no-cache') }))

  // A path that nothing answers is a place inside the console, which finds its own way.
  const page = serveStatic({ root: folder, path: 'index.html', onFound: cacheFor('no-cache') })
  app.notFound(async c => {
    if (c.req.method !== 'GET' || c.req.path.startsWith('/assets/')) throw nothing(c)
    return (await page(c, async () => {})) ?? c.text(notBuilt, 503)
  })
}

const notBuilt = 'The console is not built. Run: npm run build --workspace services/management/console\n'

const nothing = (c: Context) => new EyrieError('id', `there is nothing at ${c.req.path}`)

const cacheFor = (value: string) => (_path: string, c: Context) => {
  c.header('Cache-Control', value)
}
