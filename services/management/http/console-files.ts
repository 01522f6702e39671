import { existsSync } from 'node:fs'
import { EyrieError } from '@eyrie/contract/errors'
import { serveStatic } from '@hono/node-server/serve-static'
import type { Hono, MiddlewareHandler } from 'hono'

/** Serves the built console. Names of files under `/assets` contain a hash of their content, so they never change. */
export function serveConsole(app: Hono, folder: string): void {
  if (!existsSync(folder)) {
    app.notFound(c => c.text(NOT_BUILT, 503))
    return
  }
  const files = serveStatic({ root: folder })
  const indexPage = serveStatic({ root: folder, path: 'index.html' })
  app.get('/assets/*', cacheControl('public, max-age=31536000, immutable'), files)
  app.get('*', cacheControl('no-cache'), files)

  // Any other path is a page of the console, which has its own router.
  app.notFound(async c => {
    const response = c.req.path.startsWith('/assets/') ? undefined : await indexPage(c, async () => {})
    if (!response) throw new EyrieError('id', `there is nothing at ${c.req.path}`)
    return response
  })
}

const NOT_BUILT = 'The console is not built. Run: npm run build --workspace console\n'

const cacheControl =
  (value: string): MiddlewareHandler =>
  async (c, next) => {
    await next()
    if (c.res.ok) c.header('Cache-Control', value)
  }
