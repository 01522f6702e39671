import { managementRoutes } from '@eyrie/contract/management/index'
import { asc, sql } from 'drizzle-orm'
import { readModules } from '../../../acl/module-table.ts'
import { readRows } from '../../../acl/table-rows.ts'
import { role, uiComponent, uiModule } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import { roles } from '../../../rights/principal.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'

const { list, upload } = managementRoutes.acl

export const aclOperations: Operation[] = [
  defineOperation(list, async ({ input: { role_key } }, tx) => {
    const known = await tx.select({ role_key: role.role_key }).from(role)
    if (role_key !== undefined && !known.some(it => it.role_key === role_key))
      throw missingRecords([{ field: 'role_key', record: 'role' }])
    const has = (it: { roles: string[] }) => role_key === undefined || it.roles.includes(role_key)
    const modules = await tx.select().from(uiModule).orderBy(asc(uiModule.position))
    const components = await tx.select().from(uiComponent).orderBy(asc(uiComponent.position))
    const byModule = Map.groupBy(components.filter(has), ({ module_key }) => module_key)
    const value = modules.filter(has).map(it => ({ ...it, components: byModule.get(it.module_key) ?? [] }))
    return { value }
  }),

  defineMultiStepOperation(upload, async ({ file, caller }, database) => {
    const rows = await readRows(Buffer.from(await file!.arrayBuffer()))
    const { modules, components } = readModules(rows, roles)
    const numbered = <T>(list: T[]) => list.map((it, position) => ({ ...it, position }))
    await database.as(caller, upload.path, async tx => {
      // Of two at the same moment, one replaces what the other has brought.
      await tx.execute(sql`lock table ${uiModule} in exclusive mode`)
      // With them go their components.
      await tx.delete(uiModule)
      if (modules.length > 0) await tx.insert(uiModule).values(numbered(modules))
      if (components.length > 0) await tx.insert(uiComponent).values(numbered(components))
    })
    return undefined
  }),
]
