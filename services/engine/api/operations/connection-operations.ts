import type { Pipeline } from '@eyrie/contract'
import type { connectionRoutes } from '@eyrie/contract/engine-route'
import type { z } from 'zod'
import type { Configuration } from '../../configuration/configuration.ts'
import type { Tagged } from '../../configuration/etag.ts'
import { type Operation, operation } from '../routing/operation.ts'

type ConnectionRoutes<Shown> = ReturnType<typeof connectionRoutes<z.ZodType<Shown>>>

/** Connecting and disconnecting, answered with the pipeline as the revision shows it. */
export function connectionOperations<Shown>(
  routes: ConnectionRoutes<Shown>,
  configuration: Pick<Configuration, 'connect' | 'disconnect'>,
  show: (pipeline: Pipeline) => Shown,
): Operation[] {
  const shown = ({ value, etag }: Tagged<Pipeline>) => ({ value: show(value), etag })
  const { connect, disconnect } = configuration
  return [
    operation(routes.connectSources, async ({ params, query, body, ifMatch }) =>
      shown(await connect(params.id, 'sources', body, ifMatch, query.override)),
    ),
    operation(routes.disconnectSources, async ({ params, body, ifMatch }) =>
      shown(await disconnect(params.id, 'sources', body, ifMatch)),
    ),
    operation(routes.connectSinks, async ({ params, body, ifMatch }) =>
      shown(await connect(params.id, 'sinks', body, ifMatch)),
    ),
    operation(routes.disconnectSinks, async ({ params, body, ifMatch }) =>
      shown(await disconnect(params.id, 'sinks', body, ifMatch)),
    ),
  ]
}
