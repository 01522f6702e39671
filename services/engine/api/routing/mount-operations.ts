import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { describe } from './describe-route.ts'
import type { Operation } from './operation.ts'
import { readInput } from './read-request.ts'
import { reply } from './reply.ts'

/** Serves and documents operations; other methods on their paths are answered 405 with `Allow`. */
export function mount(app: OpenAPIHono, operations: Operation[]): void {
  const byPath = Map.groupBy(operations, ({ route }) => route.path)
  for (const [path, group] of [...byPath].sort(fixedFirst)) {
    const pattern = path.replaceAll(/{(\w+)}/g, ':$1')
    for (const { route, handle } of group) {
      app.openAPIRegistry.registerPath(describe(route))
      app.on(route.method, pattern, async c => reply(c, route, await handle(await readInput(c, route))))
    }
    handleMethodNotAllowed(
      app,
      path,
      group.map(({ route }) => route.method),
    )
  }
}

/** `/pipelines/elements` has to be asked before `/pipelines/{id}`. */
function fixedFirst([a]: [string, unknown], [b]: [string, unknown]): number {
  return Number(a.includes('{')) - Number(b.includes('{'))
}
