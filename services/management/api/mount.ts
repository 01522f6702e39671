import { EyrieError } from '@eyrie/contract'
import { envelope, type ManagementRoute } from '@eyrie/contract/management/index'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import type { Database } from '../db/open.ts'
import { authorize, isRead } from '../rights/access.ts'
import type { Principal } from '../rights/principal.ts'
import { jsonOf } from './answer-json.ts'
import { readFile, readInput } from './input.ts'
import { methodsOf } from './methods.ts'
import type { Call, Operation, Reply } from './operation.ts'

export interface MountOptions {
  /** Throws EyrieError `unavailable` while it is not there. */
  database(): Database
  /** Who calls; undefined where the request says nothing. Throws EyrieError `auth` where what it says is not valid. */
  identify(context: Context, route: ManagementRoute): Promise<Principal | undefined>
  /** Told after every operation that may have changed something. */
  changed(): void
}

/** Serves operations. Who calls is settled before the input is looked at, so that a stranger learns nothing of it. */
export function mount(
  app: Hono,
  operations: Operation[],
  { database, identify, changed }: MountOptions,
): void {
  const routes = operations.map(({ route }) => route)
  const served = new Map<string, string[]>()
  for (const { route, handle } of operations) {
    const answer = answering(route)
    const methods = methodsOf(route, routes).map(method => method.toUpperCase())
    served.set(route.path, [...(served.get(route.path) ?? []), ...methods])
    app.on(methods, route.path, async context => {
      const caller = await identify(context, route)
      authorize(route, caller)
      const input = await readInput(context, route)
      const file = route.fileField ? await readFile(context, route) : undefined
      // The types of a call follow from its route, which here is any.
      const reply = await handle({ input, caller, file, context } as Call, database()).finally(() => {
        if (!isRead(route)) changed()
      })
      return reply instanceof Response ? reply : answer(context, reply)
    })
  }
  for (const [path, methods] of served) handleMethodNotAllowed(app, path, methods, `/api/v1${path}`)
  app.all('*', context => {
    throw new EyrieError('id', `there is no ${context.req.path}: /api/v1/openapi.json lists what there is`)
  })
}

/** Puts replies into the envelope. */
function answering(route: ManagementRoute): (context: Context, reply: Reply) => Response {
  const json = jsonOf(envelope(route.response ?? z.null()))
  return (context, { value, message = route.summary, created, status = route.status }) => {
    if (route.readBack && created)
      context.header('Location', `/api/v1${route.readBack.path}?${route.readBack.by}=${created}`)
    const response = route.response ? value : null
    const body = json({ message, response, response_code: status })
    return context.body(body, status, { 'Content-Type': 'application/json' })
  }
}
