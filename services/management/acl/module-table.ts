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

/** An index of Postgres can hold so much in any script. */
const LONGEST_KEY = 255
const MOST_INTEGER = 2_147_483_647
/** More would fill nobody's screen. */
const MOST_FAULTS = 100

/**
 * Modules and components of a table whose columns are type, key, name, role, path, module_key, in this order, with or
 * without a head. Throws EyrieError `syntax` that names every cell at fault.
 */
export function readModules(rows: readonly Row[], roleKeys: readonly string[]) {
  const modules = new Map<string, Module>()
  const components = new Map<string, Component>()
  const found: FieldErrors['fields'] = []
  const body = rows.filter((row, n) => n > 0 || !isHead(row))
  const moduleKeys = new Set(body.map(fieldsOf).flatMap(({ type, key }) => (type === 'mod' ? [key] : [])))

  for (const row of body) {
    const said = new Set<string>()
    // Where a cell has several faults, the first says enough.
    const say = (column: Column | 'row', reason: string) => {
      if (!said.has(column)) found.push({ field: `modulefile.${row.number}.${column}`, reason })
      said.add(column)
    }
    const fields = fieldsOf(row)
    if (row.cells.length > COLUMNS.length)
      say('row', `has ${row.cells.length} columns: there are ${COLUMNS.length}`)
    for (const column of COLUMNS)
      if (!isStorable(fields[column])) say(column, 'may not hold the character NUL')
    if (fields.name === '') say('name', 'must not be empty')
    const roles = fields.role.split('|').flatMap(role => role.trim() || [])
    const unknown = roles.filter(role => !roleKeys.includes(role))
    if (unknown.length > 0) say('role', `there is no role ${unknown.join(', ')}`)
    if (fields.type === 'mod') readModule(fields, roles, say)
    else if (fields.type === 'comp') readComponent(fields, roles, say)
    else say('type', 'is mod for a module, or comp for a component')
  }

  function readModule({ key, name, path, module_key }: Fields, roles: string[], say: Say) {
    if (key === '') say('key', 'must not be empty')
    if (key.length > LONGEST_KEY) say('key', `has more than ${LONGEST_KEY} characters`)
    if (modules.has(key)) say('key', `there is another module ${key}`)
    if (module_key !== '' && module_key !== key)
      say('module_key', 'is empty in the row of a module, or its own key')
    modules.set(key, { module_key: key, module_name: name, module_path: path, roles })
  }

  function readComponent({ key, name, path, module_key }: Fields, roles: string[], say: Say) {
    if (!/^\d+$/.test(key) || Number(key) > MOST_INTEGER)
      say('key', 'is a whole number in the row of a component')
    if (path !== '') say('path', 'is empty in the row of a component')
    const place = `${module_key} ${Number(key)}`
    if (components.has(place)) say('key', `the module ${module_key} has another component ${key}`)
    if (!moduleKeys.has(module_key)) say('module_key', `there is no module ${module_key}`)
    components.set(place, { module_key, component_key: Number(key), component_name: name, roles })
  }

  if (body.length === 0) found.push({ field: 'modulefile', reason: 'has no rows: all modules would go' })
  if (found.length > 0) throw fieldErrors(found.slice(0, MOST_FAULTS))
  return { modules: [...modules.values()], components: [...components.values()] }
}

type Say = (column: Column | 'row', reason: string) => void

/** Whatever a head calls the other columns, no row is of this type. */
const isHead = ({ cells }: Row) => cells[0]?.toLowerCase() === 'type'

const fieldsOf = ({ cells }: Row) =>
  Object.fromEntries(COLUMNS.map((column, n) => [column, cells[n] ?? ''])) as Fields
