import type { Pipeline } from '@eyrie/contract'
import type { connections } from '@eyrie/contract/route'
import type { z } from 'zod'
import type { Configuration } from '../configuration/configuration.ts'
import { type Operation, operation } from './operation.ts'

type ConnectionRoutes<Shown> = ReturnType<typeof connections<z.ZodType<Shown>>>

/** Connecting and disconnecting, answered with the pipeline as the revision shows it. */
export function connectionOperations<Shown>(
  routes: ConnectionRoutes<Shown>,
  configuration: Pick<Configuration, 'connect' | 'disconnect'>,
  show: (pipeline: Pipeline) => Shown,
): Operation[] {
  const connection = (
    route: ConnectionRoutes<Shown>[keyof ConnectionRoutes<Shown>],
    verb: 'connect' | 'disconnect',
    kind: 'sources' | 'sinks',
  ) =>
    operation(route, async ({ params, body, ifMatch }) => {
      const { value, etag } = await configuration[verb](params.id, kind, body, ifMatch)
      return { value: show(value), etag }
    })
  return [
    connection(routes.connectSources, 'connect', 'sources'),
    connection(routes.disconnectSources, 'disconnect', 'sources'),
    connection(routes.connectSinks, 'connect', 'sinks'),
    connection(routes.disconnectSinks, 'disconnect', 'sinks'),
  ]
}
