import { existsSync } from 'node:fs'
import { EyrieError } from '@eyrie/contract/errors'
import { serveStatic } from '@hono/node-server/serve-static'
import type { Hono, MiddlewareHandler } from 'hono'

/** The built console. Files under `/assets` carry a hash of their content in their name and never change. */
export function serveConsole(app: Hono, folder: string): void {
  if (!existsSync(folder)) {
    app.notFound(c => c.text(notBuilt, 503))
    return
  }
  const files = serveStatic({ root: folder })
  const page = serveStatic({ root: folder, path: 'index.html' })
  app.get('/assets/*', cacheControl('public, max-age=31536000, immutable'), files)
  app.get('*', cacheControl('no-cache'), files)

  // Any other path is a page of the console, which routes in the browser.
  app.notFound(async c => {
    const answer = c.req.path.startsWith('/assets/') ? undefined : await page(c, async () => {})
    if (!answer) throw new EyrieError('id', `nothing found at ${c.req.path}`)
    return answer
  })
}

const notBuilt = 'The console is not built. Run: npm run build --workspace services/management/console\n'

const cacheControl =
  (value: string): MiddlewareHandler =>
  async (c, next) => {
    await next()
    if (c.res.ok) c.header('Cache-Control', value)
  }
