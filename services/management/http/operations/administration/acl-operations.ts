import { aclRoutes } from '@eyrie/contract/management/index'
import { asc, sql } from 'drizzle-orm'
import { parseModules } from '../../../acl/module-table.ts'
import { parseRows } from '../../../acl/table-rows.ts'
import { role, uiComponent, uiModule } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { ROLES } from '../../../rights/principal.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'

/**
 * API operations on the access list of the console. The list names the modules of the console and
 * the components of each module, with the roles that may see them.
 */
export const aclOperations: Operation[] = [
  defineOperation(aclRoutes.list, async ({ input: { role_key: roleKey } }, tx) => {
    const knownRoles = await tx.select({ role_key: role.role_key }).from(role)
    if (roleKey !== undefined && !knownRoles.some(row => row.role_key === roleKey)) {
      throw missingRecords([{ field: 'role_key', record: 'role' }])
    }

    const isAllowed = (row: { roles: string[] }) =>
      roleKey === undefined || row.roles.includes(roleKey)
    const modules = await tx.select().from(uiModule).orderBy(asc(uiModule.position))
    const components = await tx.select().from(uiComponent).orderBy(asc(uiComponent.position))

    const componentsByModule = Map.groupBy(
      components.filter(isAllowed),
      ({ module_key }) => module_key,
    )
    const modulesWithComponents = modules.filter(isAllowed).map(row => ({
      ...row,
      components: componentsByModule.get(row.module_key) ?? [],
    }))
    return { value: modulesWithComponents }
  }),

  defineMultiStepOperation(aclRoutes.upload, async ({ file, caller }, database) => {
    const rows = await parseRows(Buffer.from(await file.arrayBuffer()))
    const { modules, components } = parseModules(rows, ROLES)

    await database.as(caller, aclRoutes.upload.path, async tx => {
      // The lock makes concurrent uploads replace each other. Without it their rows could mix.
      await tx.execute(sql`lock table ${uiModule} in exclusive mode`)
      // This also deletes the components of the modules.
      await tx.delete(uiModule)
      if (modules.length > 0) await tx.insert(uiModule).values(addPositions(modules))
      if (components.length > 0) await tx.insert(uiComponent).values(addPositions(components))
    })
  }),
]

/** Adds the position of each row to the row, because the rows of a table have no order. */
const addPositions = <Row>(rows: Row[]) => rows.map((row, position) => ({ ...row, position }))
