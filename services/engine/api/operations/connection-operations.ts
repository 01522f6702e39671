import type { Pipeline } from '@eyrie/contract'
import type { connectionRoutes } from '@eyrie/contract/engine-route'
import type { z } from 'zod'
import type { Configuration } from '../../configuration/configuration.ts'
import type { Tagged } from '../../configuration/etag.ts'
import { type Operation, operation } from '../routing/operation.ts'

type ConnectionRoutes<Representation> = ReturnType<typeof connectionRoutes<z.ZodType<Representation>>>

/** Connects and disconnects sources and sinks. Replies with the pipeline in the representation of the API revision. */
export function createConnectionOperations<Representation>(
  routes: ConnectionRoutes<Representation>,
  { connect, disconnect }: Pick<Configuration, 'connect' | 'disconnect'>,
  toRepresentation: (pipeline: Pipeline) => Representation,
): Operation[] {
  const toReply = ({ value, etag }: Tagged<Pipeline>) => ({ value: toRepresentation(value), etag })
  return [
    operation(routes.connectSources, async ({ params, query, body, ifMatch }) =>
      toReply(await connect(params.id, 'sources', body, ifMatch, query.override)),
    ),
    operation(routes.disconnectSources, async ({ params, body, ifMatch }) =>
      toReply(await disconnect(params.id, 'sources', body, ifMatch)),
    ),
    operation(routes.connectSinks, async ({ params, body, ifMatch }) =>
      toReply(await connect(params.id, 'sinks', body, ifMatch)),
    ),
    operation(routes.disconnectSinks, async ({ params, body, ifMatch }) =>
      toReply(await disconnect(params.id, 'sinks', body, ifMatch)),
    ),
  ]
}
