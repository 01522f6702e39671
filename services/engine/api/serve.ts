import { EyrieError } from '@eyrie/contract'
import { answerErrors } from '@eyrie/kit/errors'
import type { Log } from '@eyrie/kit/log'
import { expositionType } from '@eyrie/kit/prometheus'
import { traceRequests } from '@eyrie/kit/trace-requests'
import type { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { etag } from 'hono/etag'
import { metrics } from '../statistics/metrics.ts'
import { authenticate } from './authentication.ts'
import type { Core } from './core.ts'
import { docsPage } from './docs.ts'
import { createRevision } from './revision.ts'
import { answerConflictsBare } from './v1/errors.ts'
import { operationsA } from './v1/operations.ts'
import { operationsB } from './v2/operations.ts'
import { operationsC } from './v3/operations.ts'
import { servePictures } from './v3/pictures.ts'

const MAX_BODY_BYTES = 4 << 20

/** Lets `app` serve every revision of the API over one core. */
export function serveApi(app: Hono, core: Core, tokens: readonly string[], log: Log): void {
  app.onError(answerErrors(log))
  app.notFound(c =>
    c.json(new EyrieError('id', `there is nothing at ${c.req.path}: see /docs`).toBody(), 404),
  )
  app.use('/api/*', traceRequests(core.tracer))
  app.use(
    '/api/*',
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: () => {
        throw new EyrieError('size', 'the body is larger than 4 MiB')
      },
    }),
    etag(),
  )
  const access = authenticate(tokens)
  const latest = createRevision('C', '/api/v3', operationsC(core), core, access)
  servePictures(latest.app, core.pictures)
  const earliest = createRevision('A', '/api/v1', operationsA(core), core, access)
  earliest.app.onError(answerConflictsBare(log))
  const revisions = [latest, createRevision('B', '/api/v2', operationsB(core), core, access), earliest]
  for (const { base, app: revision } of revisions) app.route(base, revision)
  app.get('/docs', docsPage(revisions))
  app.get('/metrics', access, async c => c.body(await metrics(core), 200, { 'Content-Type': expositionType }))
}
