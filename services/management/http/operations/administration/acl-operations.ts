import { managementRoutes } from '@eyrie/contract/management/index'
import { asc, sql } from 'drizzle-orm'
import { parseModules } from '../../../acl/module-table.ts'
import { parseRows } from '../../../acl/table-rows.ts'
import { role, uiComponent, uiModule } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { roles } from '../../../rights/principal.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'

const { list, upload } = managementRoutes.acl

export const aclOperations: Operation[] = [
  defineOperation(list, async ({ input: { role_key } }, tx) => {
    const knownRoles = await tx.select({ role_key: role.role_key }).from(role)
    if (role_key !== undefined && !knownRoles.some(row => row.role_key === role_key))
      throw missingRecords([{ field: 'role_key', record: 'role' }])
    const isAllowed = (row: { roles: string[] }) => role_key === undefined || row.roles.includes(role_key)
    const modules = await tx.select().from(uiModule).orderBy(asc(uiModule.position))
    const components = await tx.select().from(uiComponent).orderBy(asc(uiComponent.position))
    const byModule = Map.groupBy(components.filter(isAllowed), ({ module_key }) => module_key)
    const value = modules
      .filter(isAllowed)
      .map(row => ({ ...row, components: byModule.get(row.module_key) ?? [] }))
    return { value }
  }),

  defineMultiStepOperation(upload, async ({ file, caller }, database) => {
    const rows = await parseRows(Buffer.from(await file!.arrayBuffer()))
    const { modules, components } = parseModules(rows, roles)
    const addPositions = <T>(items: T[]) => items.map((item, position) => ({ ...item, position }))
    await database.as(caller, upload.path, async tx => {
      // Concurrent uploads replace one another instead of mixing.
      await tx.execute(sql`lock table ${uiModule} in exclusive mode`)
      // Components are deleted with their modules.
      await tx.delete(uiModule)
      if (modules.length > 0) await tx.insert(uiModule).values(addPositions(modules))
      if (components.length > 0) await tx.insert(uiComponent).values(addPositions(components))
    })
    return undefined
  }),
]
