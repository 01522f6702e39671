import { serveStatic } from '@hono/node-server/serve-static'
import { type Context, Hono } from 'hono'

const notBuilt = 'The console is not built. Run: npm run build --workspace services/management/console\n'

/** The built console. Files under `/assets` carry a hash of their content in their name and never change. */
export function consoleRoutes(folder: string): Hono {
  const app = new Hono()
  app.get(
    '/assets/*',
    serveStatic({ root: folder, onFound: cacheFor('public, max-age=31536000, immutable') }),
  )
  app.get('/assets/*', c => c.notFound())
  app.get('*', serveStatic({ root: folder, onFound: cacheFor('no-cache') }))
  // Every other path is a place inside the console, which finds its own way.
  app.get('*', serveStatic({ root: folder, path: 'index.html', onFound: cacheFor('no-cache') }))
  app.get('*', c => c.text(notBuilt, 503))
  return app
}

const cacheFor = (value: string) => (_path: string, c: Context) => {
  c.header('Cache-Control', value)
}
