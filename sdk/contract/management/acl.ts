import { z } from 'zod'
import { route } from './management-route.ts'
import { text } from './record-fields.ts'

/** Access control of the user interface in the management API: which parts of it a role can see. */

/** A module of the user interface, with the components that a role can access. */
export const uiModule = z
  .object({
    module_key: z.string(),
    module_name: z.string(),
    module_path: z.string(),
    components: z.array(z.object({ component_key: z.int(), component_name: z.string() })),
  })
  .meta({ id: 'UiModule' })
export type UiModule = z.infer<typeof uiModule>

export const aclRoutes = {
  list: route({
    method: 'get',
    path: '/acl/list',
    summary: 'List user interface modules',
    description: 'Of all roles, or of one role.',
    access: 'signed-in',
    query: z.strictObject({ role_key: text.optional() }),
    status: 200,
    response: z.array(uiModule),
  }),

  upload: route({
    method: 'post',
    path: '/acl/upload',
    summary: 'Replace all user interface modules with those of a CSV or .xlsx file',
    access: 'own',
    fileField: 'modulefile',
    status: 200,
    response: null,
  }),
}
