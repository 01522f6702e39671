import type { FieldErrors } from '@eyrie/contract/management/index'
import { isStorable } from '../db/schema/columns.ts'
import { fieldErrors } from '../errors/field-errors.ts'
import type { Row } from './table-rows.ts'

export interface Component {
  module_key: string
  component_key: number
  component_name: string
  roles: string[]
}

export interface Module {
  module_key: string
  module_name: string
  module_path: string
  roles: string[]
}

const COLUMNS = ['type', 'key', 'name', 'role', 'path', 'module_key'] as const
type Column = (typeof COLUMNS)[number]
type Fields = Record<Column, string>
type Report = (column: Column | 'row', reason: string) => void

/** Fits into an index of Postgres in any script. */
const MAX_KEY_LENGTH = 255
const MAX_INTEGER = 2_147_483_647
const MAX_ERRORS = 100

/**
 * Parses modules and components from rows with the columns type, key, name, role, path, module_key, in this order. A header
 * row is optional. Throws `EyrieError` (`syntax`) listing every invalid cell.
 */
export function parseModules(rows: readonly Row[], roleKeys: readonly string[]) {
  const modules = new Map<string, Module>()
  const components = new Map<string, Component>()
  const errors: FieldErrors['fields'] = []
  const body = rows.filter((row, n) => n > 0 || !isHeader(row))
  const moduleKeys = new Set(
    body
      .map(toFields)
      .filter(({ type }) => type === 'mod')
      .map(({ key }) => key),
  )

  for (const row of body) {
    const reported = new Set<string>()
    // Report the first error of each cell.
    const report: Report = (column, reason) => {
      if (!reported.has(column)) errors.push({ field: `modulefile.${row.number}.${column}`, reason })
      reported.add(column)
    }
    const fields = toFields(row)
    if (row.cells.length > COLUMNS.length)
      report('row', `has ${row.cells.length} columns, at most ${COLUMNS.length} are allowed`)
    for (const column of COLUMNS)
      if (!isStorable(fields[column])) report(column, 'must not contain the character NUL')
    if (fields.name === '') report('name', 'must not be empty')
    const roles = fields.role.split('|').flatMap(role => role.trim() || [])
    const unknown = roles.filter(role => !roleKeys.includes(role))
    if (unknown.length > 0) report('role', `there is no role ${unknown.join(', ')}`)
    if (fields.type === 'mod') parseModule(fields, roles, report)
    else if (fields.type === 'comp') parseComponent(fields, roles, report)
    else report('type', 'must be mod for a module or comp for a component')
  }

  function parseModule({ key, name, path, module_key }: Fields, roles: string[], report: Report) {
    if (key === '') report('key', 'must not be empty')
    if (key.length > MAX_KEY_LENGTH) report('key', `has more than ${MAX_KEY_LENGTH} characters`)
    if (modules.has(key)) report('key', `there is another module ${key}`)
    if (module_key !== '' && module_key !== key)
      report('module_key', 'must be empty or repeat the key in the row of a module')
    modules.set(key, { module_key: key, module_name: name, module_path: path, roles })
  }

  function parseComponent({ key, name, path, module_key }: Fields, roles: string[], report: Report) {
    if (!/^\d+$/.test(key) || Number(key) > MAX_INTEGER)
      report('key', 'must be a whole number in the row of a component')
    if (path !== '') report('path', 'must be empty in the row of a component')
    const id = `${module_key} ${Number(key)}`
    if (components.has(id)) report('key', `the module ${module_key} has another component ${key}`)
    if (!moduleKeys.has(module_key)) report('module_key', `there is no module ${module_key}`)
    components.set(id, { module_key, component_key: Number(key), component_name: name, roles })
  }

  if (body.length === 0)
    errors.push({ field: 'modulefile', reason: 'has no rows, which would delete all modules' })
  if (errors.length > 0) throw fieldErrors(errors.slice(0, MAX_ERRORS))
  return { modules: [...modules.values()], components: [...components.values()] }
}

/** The names of the columns in a header are free, but its first cell is `type`. */
const isHeader = ({ cells }: Row) => cells[0]?.toLowerCase() === 'type'

const toFields = ({ cells }: Row) =>
  Object.fromEntries(COLUMNS.map((column, n) => [column, cells[n] ?? ''])) as Fields
