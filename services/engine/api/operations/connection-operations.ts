import type { Pipeline } from '@eyrie/contract'
import type { connectionRoutes } from '@eyrie/contract/engine-route'
import type { z } from 'zod'
import type { Configuration } from '../../configuration/configuration.ts'
import type { WithEtag } from '../../configuration/etag.ts'
import { type Operation, operation } from '../routing/operation.ts'

/**
 * The routes that connect and disconnect, in the API revision whose pipelines have the
 * form `Representation`.
 */
type ConnectionRoutes<Representation> = ReturnType<
  typeof connectionRoutes<z.ZodType<Representation>>
>

/**
 * Binds the routes that connect sources and sinks to pipelines, or disconnect them. They reply with
 * the pipeline in the representation of an API revision.
 */
export function createConnectionOperations<Representation>(
  routes: ConnectionRoutes<Representation>,
  { connect, disconnect }: Pick<Configuration, 'connect' | 'disconnect'>,
  toRepresentation: (pipeline: Pipeline) => Representation,
): Operation[] {
  const toReply = ({ value, etag }: WithEtag<Pipeline>) => ({
    value: toRepresentation(value),
    etag,
  })
  return [
    operation(routes.connectSources, async ({ params, query, body, ifMatch }) => {
      const options = { ifMatch, override: query.override }
      return toReply(await connect(params.id, { kind: 'sources', ids: body }, options))
    }),
    operation(routes.disconnectSources, async ({ params, body, ifMatch }) =>
      toReply(await disconnect(params.id, { kind: 'sources', ids: body }, { ifMatch })),
    ),
    operation(routes.connectSinks, async ({ params, body, ifMatch }) =>
      toReply(await connect(params.id, { kind: 'sinks', ids: body }, { ifMatch })),
    ),
    operation(routes.disconnectSinks, async ({ params, body, ifMatch }) =>
      toReply(await disconnect(params.id, { kind: 'sinks', ids: body }, { ifMatch })),
    ),
  ]
}
