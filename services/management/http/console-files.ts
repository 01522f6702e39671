import { existsSync } from 'node:fs'
import { EyrieError } from '@eyrie/contract/errors'
import { serveStatic } from '@hono/node-server/serve-static'
import type { Hono, MiddlewareHandler } from 'hono'

const YEAR_SECONDS = 365 * 86_400
const NOT_BUILT_MESSAGE = 'The console is not built. Run: npm run build --workspace console\n'

/**
 * Serves the files of the built console, which is a web application of one page. Files under
 * `/assets` never change, because their names contain a hash of their content.
 */
export function serveConsole(app: Hono, folder: string): void {
  if (!existsSync(folder)) {
    app.notFound(c => c.text(NOT_BUILT_MESSAGE, 503))
    return
  }
  const files = serveStatic({ root: folder })
  const indexPage = serveStatic({ root: folder, path: 'index.html' })

  app.get('/assets/*', cacheControl(`public, max-age=${YEAR_SECONDS}, immutable`), files)
  app.get('*', cacheControl('no-cache'), files)

  // All other paths are pages of the console: its script in the index page selects
  // the page by the path.
  app.notFound(async c => {
    const isAsset = c.req.path.startsWith('/assets/')
    const response = isAsset ? undefined : await indexPage(c, async () => {})
    if (!response) throw new EyrieError('id', `there is nothing at ${c.req.path}`)
    return response
  })
}

/** Returns middleware that sets the header `Cache-Control` of successful responses. */
function cacheControl(directives: string): MiddlewareHandler {
  return async (c, next) => {
    await next()
    if (c.res.ok) c.header('Cache-Control', directives)
  }
}
