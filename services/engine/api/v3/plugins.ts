import { routesV3 } from '@eyrie/contract/routes-v3'
import type { Core } from '../core.ts'
import { type Operation, operation } from '../operation.ts'

export function pluginOperations({ plugins }: Pick<Core, 'plugins'>): Operation[] {
  const routes = routesV3.plugin
  return [
    operation(routes.list, plugins.list),
    operation(routes.get, ({ params }) => plugins.get(params.name)),
    operation(routes.upload, ({ body, ifMatch }) => plugins.upload(body, ifMatch)),
    operation(routes.use, ({ params, body, ifMatch }) => plugins.use(params.name, body.version, ifMatch)),
    operation(routes.remove, async ({ params, ifMatch }) => {
      await plugins.remove(params.name, params.version, ifMatch)
      return {}
    }),
  ]
}
