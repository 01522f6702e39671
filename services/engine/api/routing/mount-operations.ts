import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { describeRoute } from './describe-route.ts'
import type { Operation } from './operation.ts'
import { readInput } from './read-request.ts'
import { sendReply } from './send-reply.ts'

/** Serves and documents operations. Other methods on their paths are answered with 405 and `Allow`. */
export function mountOperations(app: OpenAPIHono, operations: Operation[]): void {
  const operationsByPath = Map.groupBy(operations, ({ route }) => route.path)
  for (const [path, group] of [...operationsByPath].sort(compareFixedPathsFirst)) {
    const pattern = path.replaceAll(/{(\w+)}/g, ':$1')
    for (const { route, handle } of group) {
      app.openAPIRegistry.registerPath(describeRoute(route))
      app.on(route.method, pattern, async c => sendReply(c, route, await handle(await readInput(c, route))))
    }
    handleMethodNotAllowed(
      app,
      path,
      group.map(({ route }) => route.method),
    )
  }
}

/** `/pipelines/elements` must be matched before `/pipelines/{id}`. */
function compareFixedPathsFirst([a]: [string, unknown], [b]: [string, unknown]): number {
  return Number(a.includes('{')) - Number(b.includes('{'))
}
